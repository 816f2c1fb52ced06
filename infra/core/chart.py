"""The one way to install what third parties ship as a Helm chart: pinned, atomic, with typed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes as k8s

from infra.core import chart_registry
from infra.core.chart_archive import location
from infra.core.chart_source import ChartSource
from infra.core.component import Component

TYPE = "kubernetes:helm.sh/v3:Release"
"""Type token of a Helm release, as the engine sees it."""

TIMEOUT_SECONDS = 600
"""How long a release may take to become ready before it is rolled back: a first image pull on every node fits."""

HISTORY = 5
"""Revisions of a release kept for `helm rollback`."""


@dataclass(frozen=True, kw_only=True)
class ChartArgs:
    """What a chart is installed from.

    Args:
        source: the pinned chart.
        namespace: where its release lives; must exist.
        part_of: the group of components it belongs to, shown by `helm history`.
        values: what differs from the chart's own values; never a secret.
        hooks: whether the chart's install and upgrade hooks run. They are Jobs that no review sees, so off by default.
        skip_crds: whether CRDs in the chart's `crds` folder are left out, because a `CrdBundle` brings them.
    """

    source: ChartSource
    namespace: pulumi.Input[str]
    part_of: str
    values: Mapping[str, object] = field(default_factory=dict[str, object])
    hooks: bool = False
    skip_crds: bool = False


class Chart(Component):
    """Owns one Helm release, installed or upgraded as a whole or not at all; owns neither namespace nor custom objects.

    Helm never upgrades CRDs of a chart's `crds` folder: where a chart keeps them there, either pass `skip_crds` and
    declare them as a `CrdBundle`, or let the page of the component say how they are renewed.

    Attributes:
        ready: what custom resources of the chart's operator must wait for.
    """

    group = "core"

    def __init__(self, name: str, args: ChartArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        source = args.source
        archive = location(source)
        alone = archive or (chart_registry.reference(source) if source.oci else None)
        repository = None if alone else k8s.helm.v3.RepositoryOptsArgs(repo=source.repository)
        release = k8s.helm.v3.Release(
            name,
            k8s.helm.v3.ReleaseArgs(
                name=name,
                namespace=args.namespace,
                description=args.part_of,
                chart=alone or source.chart,
                version=source.version,
                repository_opts=repository,
                values=dict(args.values),
                atomic=True,
                cleanup_on_fail=True,
                create_namespace=False,
                disable_webhooks=not args.hooks,
                max_history=HISTORY,
                skip_await=False,
                skip_crds=args.skip_crds,
                timeout=TIMEOUT_SECONDS,
            ),
            opts=self.child(),
        )
        self.ready: list[pulumi.Resource] = [release]
        self.register_outputs({"version": source.version})
