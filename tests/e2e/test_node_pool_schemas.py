"""What each back end is given for its pools, held by a real API server against the schemas of that back end's release.

Azure and Google publish no schema as a Go module. Theirs stand open here: of their objects only the kind is checked,
and Azure's pools are held against Karpenter's own schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from infra import crd_sources
from infra.core.crds.open import Identity, open_crd
from infra.core.crds.pins import CrdSource
from infra.core.crds.sources import manifests
from infra.errors import FlotillaError
from sandbox.cluster import Sandbox
from tests.e2e.objects import eventually, namespace
from tests.unit.components.test_node_pools import TAINT, declared, karpenter
from tests.unit.components.test_node_pools_elsewhere import CLUSTER_API, GKE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sandbox.api import ApiClient, Json

pytestmark = pytest.mark.e2e

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BASES = "core/config/crd/bases/cluster.x-k8s.io_"
CLUSTER_API_SCHEMAS = CrdSource(
    module="sigs.k8s.io/cluster-api",
    version="v1.14.2",
    h1="h1:o3GFNaeNFAOEEMpDPfhCK+2CjmV6gtQ8yLEcUwCg7bA=",
    paths=tuple(f"{BASES}{kind}.yaml" for kind in ("machinedeployments", "machinehealthchecks", "machinepools")),
    crds={
        f"{kind}.cluster.x-k8s.io": f"sha256:{digest}"
        for kind, digest in (
            ("machinedeployments", "071aa507e699072e9dcdd762fbc77a1e42b6b43507b87614652b94eadbc29b40"),
            ("machinehealthchecks", "94c11a2040d02c1fad4a5e94ebe763582898e8acd155cac7e56ed529557cbee8"),
            ("machinepools", "dd447526a46c6b9b2e4389cbce26db548559a0d30e6b1fa999b8b4449bfcd05f"),
        )
    },
)
AKS = Identity(group="karpenter.azure.com", kind="AKSNodeClass", namespaced=False)
GOOGLE = Identity(group="cloud.google.com", kind="ComputeClass", namespaced=False)

SCHEMAS: dict[str, Callable[[], list[Json]]] = {
    "aws": lambda: manifests(crd_sources.KARPENTER_AWS),
    "azure": lambda: [*manifests(crd_sources.KARPENTER), open_crd(AKS, ["v1beta1"])],
    "kwok": lambda: manifests(crd_sources.KARPENTER),
    "google": lambda: [open_crd(GOOGLE, ["v1"])],
    "cluster api": lambda: manifests(CLUSTER_API_SCHEMAS),
    "cluster api, groups": lambda: manifests(CLUSTER_API_SCHEMAS),
}
AUTOSCALERS: dict[str, Json] = {
    "aws": karpenter(),
    "azure": karpenter(cloud="azure"),
    "kwok": karpenter(cloud="kwok"),
    "google": GKE,
    "cluster api": {**CLUSTER_API, "repairAfter": "10m"},
    "cluster api, groups": {**CLUSTER_API, "machines": "MachinePool"},
}
KINDS = (
    "NodePool",
    "EC2NodeClass",
    "AKSNodeClass",
    "KWOKNodeClass",
    "ComputeClass",
    "MachineDeployment",
    "MachineHealthCheck",
    "MachinePool",
)


def pool(name: str, kind: str, cpu: int, memory: str, gpus: int = 0, product: str | None = None, **more: Any) -> Json:
    """Return a pool of machines, with GPUs if they have any."""
    return {
        "name": name,
        "purpose": "gpu" if gpus else "cpu",
        "instanceType": kind,
        "machine": {"cpu": cpu, "memory": memory, "gpus": gpus, "accelerator": product},
        "nodes": {"min": 0, "max": 4},
        "taints": [TAINT] if gpus else [],
        "labels": {"example.com/owner": "ml"},
        **more,
    }


A100, H100, L4 = "NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3", "NVIDIA-L4"
MIXED: Json = {"capacityType": "spot-or-on-demand"}
DISK: Json = {"disk": {"size": "500Gi"}}
GROUP: Json = {"placement": {"within": "group", "name": "near"}}
ZONE: Json = {"placement": {"within": "zone"}, "zones": ["a"]}
RACK: Json = {"placement": {"within": "rack", "name": "r7"}}
RDMA: Json = {"fabric": {"kind": "rdma", "devices": 8}}
EFA: Json = {"fabric": {"kind": "efa", "interfaces": 4}}
NVLINK: Json = {"fabric": {"kind": "nvlink"}}
QUIET: Json = {"nodes": "0", "schedule": "0 8 * * 1-5", "duration": "10h", "reasons": ["Drifted", "Underutilized"]}
CAREFUL: Json = {"disruption": {"after": "10m", "budgets": [QUIET], "expireAfter": "336h", "gracePeriod": "2h"}}
FAST: Json = {"disk": {"size": "1Ti", "type": "gp3", "iops": 6000, "throughput": 500}}
SOME: Json = {"nodes": {"min": 2, "max": 7}}

POOLS: list[tuple[str, Json]] = [
    ("aws", pool("a100", "p4de.24xlarge", 96, "1152Gi", 8, A100, **EFA, **GROUP)),
    ("aws", pool("h100", "p5.48xlarge", 192, "2Ti", 8, H100, **MIXED, **DISK, **CAREFUL)),
    ("aws", pool("l4", "g6.12xlarge", 48, "192Gi", 4, L4, **ZONE, capacityType="spot")),
    ("aws", pool("cpu", "m7i.16xlarge", 64, "256Gi", **FAST)),
    ("azure", pool("a100", "Standard_ND96amsr_A100_v4", 96, "1900Gi", 8, A100, **RDMA, **CAREFUL)),
    ("azure", pool("h100", "Standard_ND96isr_H100_v5", 96, "1900Gi", 8, H100, **MIXED, **DISK)),
    ("azure", pool("l4", "Standard_NV36ads_v6", 36, "440Gi", 1, L4, **ZONE)),
    ("azure", pool("cpu", "Standard_D64s_v5", 64, "256Gi", **DISK)),
    ("kwok", pool("a100", "sandbox.a100", 96, "1152Gi", 8, A100, **RACK, **EFA)),
    ("kwok", pool("h100", "sandbox.h100", 192, "2Ti", 8, H100, **MIXED, **NVLINK, **CAREFUL)),
    ("kwok", pool("l4", "sandbox.l4", 48, "192Gi", 4, L4, **RDMA)),
    ("kwok", pool("cpu", "sandbox.cpu", 64, "256Gi", **DISK)),
    ("google", pool("a100", "a2-ultragpu-8g", 96, "1360Gi", 8, A100, **GROUP, **DISK)),
    ("google", pool("h100", "a3-highgpu-8g", 208, "1872Gi", 8, H100, **MIXED)),
    ("google", pool("l4", "g2-standard-48", 48, "192Gi", 4, L4, **ZONE)),
    ("google", pool("cpu", "n2-standard-64", 64, "256Gi", disk={"size": "200Gi", "type": "pd-ssd"})),
    ("cluster api", pool("a100", "xe8545", 128, "1Ti", 4, A100, **RACK, **RDMA)),
    ("cluster api", pool("h100", "xe9680", 112, "2Ti", 8, H100, **SOME, **NVLINK, disruption={"gracePeriod": "1h"})),
    ("cluster api", pool("l4", "r760", 64, "512Gi", 2, L4, **ZONE, disruption={"consolidate": "empty"})),
    ("cluster api", pool("cpu", "r6625", 192, "768Gi", **SOME)),
    ("cluster api, groups", pool("h100", "xe9680", 112, "2Ti", 8, H100, **SOME)),
    ("cluster api, groups", pool("cpu", "r6625", 192, "768Gi")),
]


class Validator:
    """An API server that knows the schemas of one back end at a time."""

    def __init__(self, api: ApiClient) -> None:
        self._api = api
        self._back_end = ""
        self._plurals: dict[str, str] = {}
        self.namespace = namespace(api)

    def learn(self, back_end: str) -> None:
        """Forget what there was, and serve the back end's kinds."""
        if back_end == self._back_end:
            return
        for item in self._api.get(CRDS)["items"]:
            self._api.delete(f"{CRDS}/{item['metadata']['name']}")
        eventually(lambda: not self._api.get(CRDS)["items"])
        self._plurals.clear()
        for crd in SCHEMAS[back_end]():
            self._api.create(CRDS, crd)
            names = crd["spec"]["names"]
            self._plurals[names["kind"]] = names["plural"]
            for version in crd["spec"]["versions"]:
                served = f"/apis/{crd['spec']['group']}/{version['name']}/{names['plural']}"
                eventually(lambda path=served: self._serves(path))
        self._back_end = back_end

    def refusal(self, manifest: Json) -> str | None:
        """Return why the API server refuses an object, unknown fields included; None when it takes it."""
        space = f"namespaces/{self.namespace}/" if manifest["metadata"].get("namespace") else ""
        if space:
            manifest = {**manifest, "metadata": {**manifest["metadata"], "namespace": self.namespace}}
        path = f"/apis/{manifest['apiVersion']}/{space}{self._plurals[manifest['kind']]}"
        try:
            self._api.create(f"{path}?dryRun=All&fieldValidation=Strict", manifest)
        except FlotillaError as error:
            return str(error)
        return None

    def _serves(self, path: str) -> bool:
        try:
            self._api.get(path)
        except FlotillaError:
            return False
        return True


@pytest.fixture(scope="module")
def validator(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Validator]:
    own = Sandbox("schemas", tmp_path_factory.mktemp("schemas") / "sandbox", tools=tools)
    own.up([])
    try:
        with own.api() as api:
            yield Validator(api)
    finally:
        own.down()


@pytest.mark.parametrize(("back_end", "wanted"), POOLS, ids=[f"{end}-{wanted['name']}" for end, wanted in POOLS])
def test_objects_of_a_pool_are_as_their_release_has_them(validator: Validator, back_end: str, wanted: Json) -> None:
    validator.learn(back_end)
    recording = declared(wanted, autoscaler=AUTOSCALERS[back_end])
    objects = [manifest for kind in KINDS for manifest in recording.all(kind)]

    assert objects
    assert {manifest["metadata"]["name"]: validator.refusal(manifest) for manifest in objects} == {
        manifest["metadata"]["name"]: None for manifest in objects
    }


def test_validator_refuses_a_field_that_does_not_exist(validator: Validator) -> None:
    validator.learn("aws")
    node_class = declared(POOLS[0][1]).one("EC2NodeClass")

    refused = validator.refusal({**node_class, "spec": {**node_class["spec"], "subnets": []}})

    assert refused is not None
    assert "unknown field" in refused
