"""What stands in, in the sandbox, for operators that an environment expects the platform to bring: their schemas.

No such operator runs there, so its custom resources are kept as they are declared and nothing comes of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from infra.core.crds.open import OPEN, Identity, open_crd
from infra.errors import FlotillaError

if TYPE_CHECKING:
    from infra.core.crds.pins import CrdSource, Manifest
    from infra.settings import Settings
    from sandbox.api import ApiClient
    from sandbox.cluster import Sandbox

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_SECONDS = 30.0
_POLL_SECONDS = 0.1

RECONCILERS = ("helm.toolkit.fluxcd.io", "source.toolkit.fluxcd.io")
"""Groups of what is written for a reconciler, and never applied by `pulumi up`."""


def stand_in(sandbox: Sandbox, settings: Settings) -> list[str]:
    """Serve every kind that the environment declares and nobody brings; return those with an open schema.

    Run again, it changes nothing: what is served already is left as it is.
    """
    from infra.crd_sources import ALL
    from ops.manifests import render

    rendered = render(settings)
    declared = {name for bundle in rendered.bundles.values() for name in bundle["crds"]}
    groups = brought_by_charts(rendered.objects)
    with sandbox.api() as api:
        live = {crd["metadata"]["name"]: crd for crd in api.get(_CRDS)["items"]}
        crds = missing(
            rendered.objects,
            brought=lambda name: name in declared or name.partition(".")[2] in groups,
            pinned=ALL,
        )
        for crd in crds:
            if crd["metadata"]["name"] not in live:
                api.create(_CRDS, crd)
        for crd in crds:
            _wait_established(api, crd["metadata"]["name"])
    return sorted(crd["metadata"]["name"] for crd in crds if OPEN in crd["metadata"].get("annotations", {}))


def brought_by_charts(objects: Iterable[Manifest]) -> set[str]:
    """Return the API groups whose kinds come with an installed chart, which refuses to share them with anybody."""
    from infra.chart_sources import ALL

    charts = [each["spec"]["chart"]["spec"] for each in objects if each["kind"] == "HelmRelease"]
    installed = {(chart["chart"], chart["version"]) for chart in charts}
    return {group for source in ALL if (source.chart, source.version) in installed for group in source.groups}


def missing(
    objects: Iterable[Manifest], *, brought: Callable[[str], bool], pinned: Iterable[CrdSource]
) -> list[Manifest]:
    """Return the CRDs of all custom kinds that are not brought: their makers' where pinned, else open ones.

    Args:
        objects: what the environment declares.
        brought: tells by a CRD's name whether somebody brings it.
        pinned: where makers' schemas come from.
    """
    from infra.core.crds.sources import manifests

    versions: dict[Identity, set[str]] = {}
    for manifest in objects:
        group, _, version = manifest["apiVersion"].rpartition("/")
        if is_custom(group):
            namespaced = "namespace" in manifest["metadata"]
            identity = Identity(group=group, kind=manifest["kind"], namespaced=namespaced)
            versions.setdefault(identity, set()).add(version)
    sources = {name: source for source in pinned for name in source.crds}
    found: list[Manifest] = []
    for identity in sorted(versions):
        if brought(identity.name):
            continue
        source = sources.get(identity.name)
        found += manifests(source.keeping((identity.name,))) if source else [open_crd(identity, versions[identity])]
    return found


def is_custom(group: str) -> bool:
    """Tell whether an API group is not Kubernetes' own, which have no dot or are on a list of its own."""
    if "." not in group or group in RECONCILERS:
        return False
    return group not in {
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    }


def _wait_established(api: ApiClient, name: str) -> None:
    """Wait until a kind is served: an object of it that came sooner would be refused."""
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        conditions = api.get(f"{_CRDS}/{name}").get("status", {}).get("conditions") or []
        if any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
            return
        time.sleep(_POLL_SECONDS)
    raise FlotillaError(f"not served after {_SECONDS:.0f} s", where=name, remedy="See `flotilla sandbox logs`")
