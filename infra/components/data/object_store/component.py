"""The object store: run here where settings say so, its buckets, and what the platform's components read of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_kubernetes as k8s
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from infra import chart_sources, versions
from infra.components.data.object_store import minio, seaweedfs
from infra.components.data.object_store.access import MINIO, OWN_KEYS, SEAWEED, SEAWEED_PORT, access
from infra.components.data.object_store.buckets import Buckets, BucketsArgs
from infra.components.data.object_store.reads import install_config, platform
from infra.core import names
from infra.core.chart import Chart, ChartArgs
from infra.core.component import Component
from infra.core.generated import GeneratedPassword
from infra.core.namespace import Namespace
from infra.settings.models.data.object_store import (
    OBJECT_STORE_NAMESPACE,
    ManagedStore,
    MinioStore,
    SeaweedStore,
)

if TYPE_CHECKING:
    from infra.core.chart_source import ChartSource
    from infra.settings.models.data.object_store import ObjectStore as ObjectStoreSettings

PART_OF = "data"
MINIO_PORT = 9000


@dataclass(frozen=True, kw_only=True)
class ObjectStoreArgs:
    """What the object store is declared from.

    Args:
        settings: whose it is, and its buckets.
        namespace: where the platform's components run that use it.
        key_namespaces: where else the platform's key is needed, where we make it.
        teams: names of the teams, each of which gets a key of its own where we make keys.
        zones: the cluster's zones.
        storage_class: class of the disks of a store that we run, unless its settings name one.
    """

    settings: ObjectStoreSettings
    namespace: pulumi.Input[str]
    key_namespaces: Mapping[str, pulumi.Input[str]]
    teams: Sequence[str]
    zones: Sequence[str]
    storage_class: str


class ObjectStore(Component):
    """Owns the store where it runs here, its buckets, and the ConfigMaps and keys of the platform's components.

    Owns no object in it. Keys of a store outside are Secrets that exist; those of SeaweedFS are made here, the
    platform's own and one for each team, which reaches no more than the team's prefixes.

    Attributes:
        team_keys: each team's secret access key by the team's name, a secret to the engine; empty where keys exist.
        done: what has to wait until the buckets are there.
        inside: URL of the store, where it runs on this platform; None where it does not.
        install_config: its entries in `pipeline-install-config`.
    """

    group = "data"

    def __init__(self, name: str, args: ObjectStoreArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._args = args
        self._name = name
        self.team_keys: dict[str, pulumi.Output[str]] = {}
        self.done: list[pulumi.Resource] = []
        store = args.settings
        self.inside = access(store).url if isinstance(store, SeaweedStore | MinioStore) else None
        self.install_config = install_config(store)
        ready: list[pulumi.Resource] = []
        if isinstance(store, SeaweedStore):
            ready = self._seaweedfs(store)
        elif isinstance(store, MinioStore):
            ready = self._minio(store)
        for config, data in platform(store).items():
            k8s.core.v1.ConfigMap(config, metadata=self._meta(config, args.namespace), data=data, opts=self.child())
        if isinstance(store, ManagedStore) and store.manage_buckets:
            buckets = BucketsArgs(store=store, namespace=args.namespace, after=ready)
            self.done = Buckets("object-store-buckets", buckets, opts=self.child()).done
        self.register_outputs({"endpoint": access(store).url})

    def _seaweedfs(self, store: SeaweedStore) -> list[pulumi.Resource]:
        chart = chart_sources.SEAWEEDFS if store.installed == "install" else None
        space, operator = self._operator(chart, SEAWEED_PORT, {"webhook": {"enabled": False}})
        own = self._key("platform")
        self.team_keys = {team: self._key(team) for team in self._args.teams}
        identities = _identities(store, own, self.team_keys)
        secret = k8s.core.v1.Secret(
            seaweedfs.IDENTITIES_SECRET,
            metadata=self._meta(seaweedfs.IDENTITIES_SECRET, space),
            string_data={seaweedfs.IDENTITIES_KEY: identities},
            opts=self.child(),
        )
        keys = [
            k8s.core.v1.Secret(
                name,
                metadata=self._meta(OWN_KEYS.secret, namespace),
                string_data={
                    OWN_KEYS.access_key: pulumi.Output.secret(seaweedfs.PLATFORM),
                    OWN_KEYS.secret_key: own,
                },
                opts=self.child(),
            )
            for name, namespace in self._key_places()
        ]
        declared = seaweedfs.spec(
            store, zones=self._args.zones, storage_class=self._class(store), image=versions.SEAWEEDFS
        )
        made = self._custom(seaweedfs.API, "Seaweed", SEAWEED, space, declared, [secret, *operator])
        return [made, *keys]

    def _key_places(self) -> list[tuple[str, pulumi.Input[str]]]:
        """Return resource name and namespace of every Secret with the platform's key."""
        more = [(f"{where}-{OWN_KEYS.secret}", namespace) for where, namespace in self._args.key_namespaces.items()]
        return [(OWN_KEYS.secret, self._args.namespace), *more]

    def _minio(self, store: MinioStore) -> list[pulumi.Resource]:
        chart = chart_sources.MINIO_OPERATOR if store.installed == "install" else None
        space, operator = self._operator(chart, MINIO_PORT, {"operator": {"replicaCount": 2}})
        declared = minio.spec(store, storage_class=self._class(store), image=versions.MINIO)
        return [self._custom(minio.API, "Tenant", MINIO, space, declared, operator)]

    def _class(self, store: SeaweedStore | MinioStore) -> str:
        return store.volume.storage_class or self._args.storage_class

    def _operator(
        self, chart: ChartSource | None, port: int, values: dict[str, Any]
    ) -> tuple[pulumi.Output[str], list[pulumi.Resource]]:
        """Declare the store's namespace, who may reach it, and its operator; return the former and what to wait for."""
        space = Namespace(OBJECT_STORE_NAMESPACE, part_of=PART_OF, pod_security="baseline", opts=self.child()).name
        k8s.networking.v1.NetworkPolicy(
            f"{self._name}-reach",
            metadata=self._meta("object-store", space),
            spec=_reach(port),
            opts=self.child(),
        )
        if chart is None:
            return space, []
        release = ChartArgs(source=chart, namespace=space, part_of=PART_OF, values=values)
        return space, Chart(chart.chart, release, opts=self.child()).ready

    def _key(self, owner: str) -> pulumi.Output[str]:
        made = GeneratedPassword(f"{self._name}-{owner}-key", purpose=f"{owner}'s objects", opts=self.child())
        return pulumi.Output.secret(made.password)

    def _custom(
        self,
        api: str,
        kind: str,
        name: str,
        namespace: pulumi.Input[str],
        spec: dict[str, Any],
        after: list[pulumi.Resource],
    ) -> CustomResource:
        return CustomResource(
            name,
            api_version=api,
            kind=kind,
            metadata=self._meta(name, namespace),
            spec=spec,
            opts=self.child(depends_on=after),
        )

    def _meta(self, name: str, namespace: pulumi.Input[str]) -> ObjectMetaArgs:
        return ObjectMetaArgs(name=name, namespace=namespace, labels=names.labels(name, part_of=PART_OF))


def _identities(
    store: SeaweedStore, own: pulumi.Output[str], keys: dict[str, pulumi.Output[str]]
) -> pulumi.Output[str]:
    teams = list(keys)
    every = pulumi.Output.all(own, *(keys[team] for team in teams))
    return pulumi.Output.secret(
        every.apply(lambda found: seaweedfs.identities(store, dict(zip(teams, found[1:], strict=True)), found[0]))
    )


def _reach(port: int) -> k8s.networking.v1.NetworkPolicySpecArgs:
    """Let the store's pods reach one another, and every pod of the cluster its S3 port, where keys decide."""
    everybody = k8s.meta.v1.LabelSelectorArgs()
    return k8s.networking.v1.NetworkPolicySpecArgs(
        pod_selector=everybody,
        policy_types=["Ingress"],
        ingress=[
            k8s.networking.v1.NetworkPolicyIngressRuleArgs(
                from_=[k8s.networking.v1.NetworkPolicyPeerArgs(pod_selector=everybody)]
            ),
            k8s.networking.v1.NetworkPolicyIngressRuleArgs(
                from_=[k8s.networking.v1.NetworkPolicyPeerArgs(namespace_selector=everybody)],
                ports=[k8s.networking.v1.NetworkPolicyPortArgs(port=port, protocol="TCP")],
            ),
        ],
    )
