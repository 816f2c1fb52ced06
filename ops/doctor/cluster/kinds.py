"""Whether the API server serves every kind of object that Flotilla applies."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ops.doctor.check import Verdict, Verdicts, check, fail, ok, skip
from ops.doctor.cluster.api import NOT_FOUND, KubeApi, KubeError
from ops.doctor.cluster.probe import ClusterProbe
from ops.doctor.cluster.target import Kind


@check(
    "cluster-crds",
    "cluster",
    why="Applying an object of a kind that the API server does not know waits for it, and fails after minutes.",
    run="Install the operator that brings the CRD, or say `installed: install` where Flotilla has its chart.",
    needs=("cluster-api",),
    waits=2,
)
def crds(probe: ClusterProbe) -> Verdicts:
    """Every kind that is applied: served already, brought by what Flotilla installs, or missing."""
    found = served_kinds(probe)
    served = 0
    for kind in probe.target.kinds:
        if kind.name in found[kind.api_version]:
            served += 1
        elif kind.comes_with:
            yield skip(f"{kind.name} ({kind.group}) comes with {kind.comes_with}")
        else:
            yield _missing(probe, kind)
    yield ok(f"{served} of {len(probe.target.kinds)} kinds are served already")


def served_kinds(probe: ClusterProbe) -> dict[str, dict[str, dict[str, Any]]]:
    """Return what the API server serves, by API version and kind, of those versions that Flotilla applies."""
    versions = sorted({kind.api_version for kind in probe.target.kinds})
    if not versions:
        return {}
    with ThreadPoolExecutor(max_workers=8) as pool:
        return dict(zip(versions, pool.map(lambda each: _resources(probe.api, each), versions), strict=True))


def _missing(probe: ClusterProbe, kind: Kind) -> Verdict:
    what = f"{kind.name} of {kind.api_version} is not served, and nothing that Flotilla installs brings it"
    run = f"Install its operator; then: kubectl api-resources --api-group={kind.group}"
    try:
        groups = probe.api.get(f"/apis/{kind.group}")["versions"]
    except KubeError as error:
        if error.status != NOT_FOUND:
            raise
        return fail(what, run=run)
    versions = ", ".join(version["version"] for version in groups)
    return fail(f"{what}; the API server has {kind.group} as {versions}", run="Upgrade its operator")


def _resources(api: KubeApi, api_version: str) -> dict[str, dict[str, Any]]:
    """Return what the API server serves of a group's version, by kind; nothing where it does not know it."""
    path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
    try:
        listed = api.get(path)["resources"]
    except KubeError as error:
        if error.status == NOT_FOUND:
            return {}
        raise
    return {resource["kind"]: resource for resource in listed if "/" not in resource["name"]}
