"""Writes a Helm release as what Flux reconciles: a repository and a HelmRelease that takes its chart from there."""

from __future__ import annotations

from typing import Any

from infra.chart_sources import source_of
from infra.core import chart_source, names

Manifest = dict[str, Any]

INTERVAL = "10m"
"""How often a HelmRelease is compared with the cluster."""

REPOSITORY_INTERVAL = "1h"
"""How often a repository is read; the version is pinned, so nothing in it changes what is installed."""

REMEDIATIONS = 3
"""How often a failed install or upgrade is rolled back and tried again."""


def objects(release: Manifest) -> list[Manifest]:
    """Return the HelmRepository and HelmRelease of a release's inputs, as `kubernetes:helm.sh/v3:Release` has them.

    Source: https://fluxcd.io/flux/components/helm/helmreleases/ (v2) and
    https://fluxcd.io/flux/components/source/helmrepositories/ (v1).
    """
    name, namespace = release["name"], release["namespace"]
    labels = names.labels(name, part_of=release["description"], version=release["version"])
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    in_registry = chart_source.is_registry(release["chart"])
    address, chart = release.get("repositoryOpts", {}).get("repo", ""), release["chart"]
    if in_registry:
        address, _, chart = chart.rpartition("/")
    source = source_of(address, chart, release["version"])
    digest = {"annotations": {names.CHART_DIGEST: source.digest}} if source and source.digest else {}
    repository = {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "HelmRepository",
        "metadata": metadata,
        "spec": {"interval": REPOSITORY_INTERVAL, "url": address, **({"type": "oci"} if in_registry else {})},
    }
    crds = "Skip" if release.get("skipCrds") else "CreateReplace"
    step = {"crds": crds, "disableHooks": bool(release.get("disableWebhooks"))}
    helm_release = {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": metadata | digest,
        "spec": {
            "releaseName": name,
            "interval": INTERVAL,
            "timeout": f"{release['timeout']}s",
            "maxHistory": release["maxHistory"],
            "chart": {
                "spec": {
                    "chart": chart,
                    "version": release["version"],
                    "sourceRef": {"kind": "HelmRepository", "name": name},
                }
            },
            "install": {**step, "remediation": {"retries": REMEDIATIONS}},
            "upgrade": {
                **step,
                "cleanupOnFail": bool(release.get("cleanupOnFail")),
                "remediation": {"retries": REMEDIATIONS, "remediateLastFailure": True},
            },
            "driftDetection": {"mode": "enabled"},
            "values": release.get("values", {}),
        },
    }
    return [repository, helm_release]
