"""Declares the namespaces and quotas listed in the file `bench:objects`."""

from __future__ import annotations

import json
from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s

from infra.core.provider import cluster_provider


def main() -> None:
    """Declare every object; a quota waits for its namespace, as it would in a component."""
    config = pulumi.Config("bench")
    context = pulumi.Config("flotilla").require("context")
    if config.require_bool("raisedLimits"):
        provider = cluster_provider(context)
    else:
        provider = k8s.Provider("cluster", context=context, enable_server_side_apply=True)
    opts = pulumi.ResourceOptions(provider=provider)

    namespaces: dict[str, k8s.core.v1.Namespace] = {}
    for manifest in json.loads(Path(config.require("objects")).read_text())["items"]:
        metadata = manifest["metadata"]
        name: str = metadata["name"]
        if manifest["kind"] == "Namespace":
            namespaces[name] = k8s.core.v1.Namespace(
                name, metadata=k8s.meta.v1.ObjectMetaArgs(name=name, labels=metadata["labels"]), opts=opts
            )
        else:
            owner: str = metadata["namespace"]
            k8s.core.v1.ResourceQuota(
                f"{owner}-{name}",
                metadata=k8s.meta.v1.ObjectMetaArgs(
                    name=name, namespace=namespaces[owner].metadata.name, labels=metadata["labels"]
                ),
                spec=k8s.core.v1.ResourceQuotaSpecArgs(hard=manifest["spec"]["hard"]),
                opts=opts,
            )


main()
