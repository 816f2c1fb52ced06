"""Where a chart comes from, and what it is checked against."""

from __future__ import annotations

from dataclasses import dataclass

from infra.core.chart_module import ChartModule

SCHEME = "oci://"


def is_registry(repository: str) -> bool:
    """Tell whether a repository of charts is an OCI registry, rather than a folder with an index."""
    return repository.startswith(SCHEME)


@dataclass(frozen=True, kw_only=True)
class ChartSource:
    """A chart as its maker ships it, pinned so that nothing else can take its place.

    Args:
        repository: address of the Helm repository, such as `https://strimzi.io/charts`, or of the part of an OCI
            registry that holds its charts, such as `oci://registry.k8s.io/kueue/charts`.
        chart: name of the chart in it.
        version: version of the chart.
        digest: `sha256:` and hex of the chart's archive, as the repository's index lists it; None pins by version
            only, which `flotilla charts list` says.
        app_version: version of what the chart runs, where the chart is numbered differently.
        module: the Go module that ships the same chart; where given, it is installed from there and checked, and the
            repository only serves what reconciles rendered manifests.
        groups: API groups whose kinds the chart brings among its templates, so that nobody else may.
    """

    repository: str
    chart: str
    version: str
    digest: str | None = None
    app_version: str | None = None
    module: ChartModule | None = None
    groups: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.chart} {self.version}"

    @property
    def oci(self) -> bool:
        """Whether the chart lies in an OCI registry; Helm names it by one address with the chart's name at its end."""
        return is_registry(self.repository)

    @property
    def pin(self) -> str | None:
        """What its archive is checked against; None where it is pinned by version only."""
        return self.module.files if self.module else self.digest

    @property
    def archive(self) -> str:
        """File name of the chart's archive."""
        return f"{self.chart}-{self.version}.tgz"
