"""The cases: an environment, programs of many small objects, and the schemas of one controller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.sides import Kubectl, Pulumi
from infra.core.crds import sources
from infra.crd_sources import TRAINING_OPERATOR
from infra.paths import ROOT
from infra.settings import load
from ops import manifests
from sandbox.nodes import Node, from_settings

if TYPE_CHECKING:
    from bench.sides import Side
    from infra.settings import Settings
    from ops.manifests import Manifest

PROGRAMS = ROOT / "bench" / "programs"
OURS = "pulumi"
DEFAULT_LIMITS = "the provider's default client limits"
SCHEMAS_IN_ENGINE = "the schemas as resources of the engine (`yaml.v2.ConfigGroup`)"

_FIRST = (sources.KIND, "Namespace")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One set of objects, and the ways to apply it.

    Args:
        title: what the report calls it.
        objects: how many.
        sides: who is measured on it.
        nodes: the machines of its clusters.
        settings: the environment, where the objects are one's.
    """

    title: str
    objects: int
    sides: tuple[Side, ...]
    nodes: tuple[Node, ...] = ()
    settings: Settings | None = None


def environment(name: str) -> Case:
    """Return an environment: the product's own program against what `flotilla render` writes for it."""
    settings = load(name)
    rendered = manifests.render(settings)
    objects = (*rendered.definitions(), *rendered.objects)
    return Case(
        title=f"environment `{name}`",
        objects=len(objects),
        sides=(Pulumi(name=OURS, program=ROOT / "infra", stack=name), _kubectl(objects)),
        nodes=tuple(from_settings(settings)),
        settings=settings,
    )


def many(count: int, *, default_limits: bool) -> Case:
    """Return a program of `count` small objects: half namespaces, half quotas.

    Args:
        count: how many.
        default_limits: also measure the provider as it comes, without our client limits.
    """
    objects = _namespaces_and_quotas(count // 2)
    ours = _declared(OURS, objects, raised_limits=True)
    compared = (_declared(DEFAULT_LIMITS, objects, raised_limits=False),) if default_limits else ()
    return Case(title=f"{count:,} objects", objects=len(objects), sides=(ours, _kubectl(objects), *compared))


def schemas() -> Case:
    """Return the training operator's CRDs: as our bundle, by kubectl, and as resources of the engine."""
    objects = tuple(sources.manifests(TRAINING_OPERATOR))
    program = PROGRAMS / "schemas"
    return Case(
        title="training operator's CRDs",
        objects=len(objects),
        sides=(
            Pulumi(name=OURS, program=program, stack="bench", config={"bench:bundle": "true"}),
            _kubectl(objects),
            Pulumi(name=SCHEMAS_IN_ENGINE, program=program, stack="bench", config={"bench:bundle": "false"}),
        ),
    )


def _kubectl(objects: tuple[Manifest, ...]) -> Kubectl:
    """Return kubectl on all objects at once; where there are definitions, on them and the namespaces first."""
    if not any(each["kind"] == sources.KIND for each in objects):
        return Kubectl(waves=(objects,))
    first = tuple(each for each in objects if each["kind"] in _FIRST)
    rest = tuple(each for each in objects if each["kind"] not in _FIRST)
    return Kubectl(waves=(first, rest) if rest else (first,))


def _declared(name: str, objects: tuple[Manifest, ...], *, raised_limits: bool) -> Pulumi:
    config = {"bench:raisedLimits": str(raised_limits).lower()}
    return Pulumi(name=name, program=PROGRAMS / "objects", stack="bench", config=config, objects=objects)


def _namespaces_and_quotas(teams: int) -> tuple[Manifest, ...]:
    names = [f"bench-{number:04}" for number in range(teams)]
    labels = {"app.kubernetes.io/managed-by": "flotilla", "app.kubernetes.io/part-of": "bench"}
    hard = {"pods": "50", "requests.cpu": "20", "requests.memory": "64Gi"}
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}} for name in names
    ]
    quotas = [
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "quota", "namespace": name, "labels": labels},
            "spec": {"hard": hard},
        }
        for name in names
    ]
    return (*namespaces, *quotas)
