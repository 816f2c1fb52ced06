"""What the toolchain consists of: Go modules, each one compile, and the tools that come out of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from infra.paths import ROOT
from sandbox.tools import versions
from sandbox.tools.versions import Rule, Version

if TYPE_CHECKING:
    from pathlib import Path

MODULES_FOLDER = ROOT / "sandbox" / "toolchain"


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A program the sandbox runs.

    Args:
        name: file name of the program.
        package: import path of its main package; `.` is the module folder's own.
        version_arguments: what makes it print its version; a tool without them is never taken from PATH.
        rule: which versions found on PATH may be used instead of the pinned one.
        plugin: whether the engine looks it up in its plugin cache rather than on PATH.
    """

    name: str
    package: str
    version_arguments: tuple[str, ...] = ()
    rule: Rule = versions.SAME_MINOR
    plugin: bool = False


@dataclass(frozen=True, kw_only=True)
class Module:
    """A folder with a committed go.mod and go.sum; its tools are built by one `go build`.

    Args:
        name: the folder's name.
        tools: what is built from it.
        origin: module path whose version in go.mod is the version of the tools.
        distribution: Python distribution whose version the tools must have, where go.mod names only a commit.
        stamps: variables that the linker sets; `{0}` is the version, `{0.major}` and `{0.minor}` its parts.
        parent: the folder its own lies in; the toolchain's when left out.
        on_demand: whether only environments that use its tools need it, so that others do not wait for its compile.
    """

    name: str
    tools: tuple[Tool, ...]
    origin: str
    distribution: str | None = None
    stamps: tuple[str, ...] = ()
    parent: Path | None = None
    on_demand: bool = False

    @property
    def folder(self) -> Path:
        """Where its go.mod lies."""
        return (self.parent or MODULES_FOLDER) / self.name

    @property
    def version(self) -> Version:
        """Version of its tools."""
        if self.distribution:
            return Version.parse(metadata.version(self.distribution))
        pinned = re.search(rf"^\s*(?:require )?{re.escape(self.origin)} (v\S+)", self._go_mod, re.MULTILINE)
        if pinned is None:
            raise ValueError(f"{self.folder / 'go.mod'} does not require {self.origin}")
        return Version.parse(pinned[1])

    @property
    def minimum_go(self) -> Version:
        """The oldest Go that compiles it."""
        directive = re.search(r"^go (\S+)$", self._go_mod, re.MULTILINE)
        return Version.parse(directive[1]) if directive else Version(1, 21)

    @property
    def linker_flags(self) -> str:
        """Flags that leave debug tables out and set the version."""
        stamps = (f"-X {stamp.format(self.version)}" for stamp in self.stamps)
        return " ".join(("-s -w", *stamps))

    @property
    def _go_mod(self) -> str:
        return (self.folder / "go.mod").read_text(encoding="utf-8")


_KUBERNETES = "k8s.io/kubernetes"

MODULES = (
    Module(
        name="etcd",
        origin="go.etcd.io/etcd/server/v3",
        tools=(Tool(name="etcd", package="go.etcd.io/etcd/server/v3", version_arguments=("--version",)),),
    ),
    Module(
        name="kwok",
        origin="sigs.k8s.io/kwok",
        tools=(Tool(name="kwok", package="sigs.k8s.io/kwok/cmd/kwok", version_arguments=("--version",)),),
    ),
    Module(
        name="training-operator",
        origin="github.com/kubeflow/training-operator",
        tools=(
            Tool(
                name="training-operator",
                package="github.com/kubeflow/training-operator/cmd/training-operator.v1",
            ),
        ),
    ),
    Module(
        name="karpenter",
        origin="sigs.k8s.io/karpenter",
        tools=(Tool(name="karpenter", package="."),),
        on_demand=True,
    ),
    Module(
        name="kueue",
        origin="sigs.k8s.io/kueue",
        tools=(Tool(name="kueue", package="sigs.k8s.io/kueue/cmd/kueue"),),
        stamps=("sigs.k8s.io/kueue/pkg/version.GitVersion=v{0}",),
        on_demand=True,
    ),
    Module(
        name="scheduler-plugins",
        origin="sigs.k8s.io/scheduler-plugins",
        tools=(Tool(name="gang-scheduler", package="sigs.k8s.io/scheduler-plugins/cmd/scheduler"),),
        on_demand=True,
    ),
    Module(
        name="pulumi",
        origin="github.com/pulumi/pulumi/pkg/v3",
        tools=(
            Tool(
                name="pulumi",
                package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
                version_arguments=("version",),
                rule=versions.SAME_MAJOR_NOT_OLDER,
            ),
        ),
        stamps=("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{0}",),
    ),
    Module(
        name="kubernetes",
        origin=_KUBERNETES,
        tools=(
            *(
                Tool(name=name, package=f"{_KUBERNETES}/cmd/{name}", version_arguments=("--version",))
                for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
            ),
            Tool(
                name="kubectl",
                package=f"{_KUBERNETES}/cmd/kubectl",
                version_arguments=("version", "--client"),
                rule=versions.WITHIN_ONE_MINOR,
            ),
        ),
        stamps=(
            "k8s.io/component-base/version.gitVersion=v{0}",
            "k8s.io/component-base/version.gitMajor={0.major}",
            "k8s.io/component-base/version.gitMinor={0.minor}",
        ),
    ),
    Module(
        name="pulumi-resource-kubernetes",
        origin="github.com/pulumi/pulumi-kubernetes/provider/v4",
        distribution="pulumi-kubernetes",
        tools=(Tool(name="pulumi-resource-kubernetes", package=".", rule=versions.EXACT, plugin=True),),
        stamps=("main.version={0}",),
    ),
)
"""Ordered so that the quick compiles come first."""

ON_DEMAND = tuple(module.name for module in MODULES if module.on_demand)
"""What only some environments need."""


def minimum_go() -> Version:
    """Return the oldest Go that compiles every module."""
    return max(module.minimum_go for module in MODULES)
