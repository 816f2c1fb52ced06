"""Declares an environment without engine or cluster and returns the objects that would be applied."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pulumi
from pulumi.runtime import mocks, rpc

from infra.core import chart
from infra.core.crds.properties import desired
from infra.errors import FlotillaError
from infra.kubeflow import declare
from ops import flux

if TYPE_CHECKING:
    from infra.settings import Settings

Manifest = dict[str, Any]
"""An object as YAML shows it: camelCase, with apiVersion, kind and metadata."""

BUNDLE = "pulumi-python:dynamic/flotilla:CrdBundle"
PASSWORD = "pulumi-python:dynamic/flotilla:GeneratedPassword"  # noqa: S105 - a type
KUBERNETES = "kubernetes:"
REDACTED = "(secret)"
"""What is shown in place of each secret value."""


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """What an environment declares.

    Args:
        objects: every object but custom resource definitions, sorted by namespace, kind and name; a Helm release as
            the objects from which Flux makes it.
        bundles: each bundle's declaration by its name: its module, and each CRD's digest.
    """

    objects: list[Manifest]
    bundles: dict[str, Manifest]

    def definitions(self) -> list[Manifest]:
        """Return the custom resource definitions themselves, from the mirror, the cache or their modules."""
        return sorted((crd for bundle in self.bundles.values() for crd in desired(bundle).values()), key=sort_key)


class _Recorder(mocks.Mocks):
    """Stands in for the engine: keeps what is registered and echoes it as outputs."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str, str], Manifest] = {}
        self.bundles: dict[str, Manifest] = {}

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[Any, Any]]:
        inputs = cast("dict[str, Any]", args.inputs)
        if args.typ == BUNDLE:
            self.bundles[args.name] = inputs
        elif args.typ == PASSWORD:
            return args.name, {**inputs, "password": REDACTED}
        elif args.typ == chart.TYPE:
            for manifest in flux.objects(_plain(inputs)):
                self._keep(manifest)
        elif args.typ.startswith(KUBERNETES):
            self._keep(_plain(inputs))
        return args.name, inputs

    def _keep(self, manifest: Manifest) -> None:
        key = sort_key(manifest)
        if key in self.objects:
            raise FlotillaError(f"{' '.join(part for part in key if part)} is declared twice")
        self.objects[key] = manifest

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]]]:
        raise FlotillaError(f"rendering cannot call {args.token}: it needs a cluster")


def render(settings: Settings) -> Rendered:
    """Return everything the environment declares; needs neither engine, cluster nor network."""
    recorder = _Recorder()
    _ensure_event_loop()
    mocks.set_mocks(recorder, project="flotilla", stack=settings.environment, preview=False)

    @pulumi.runtime.test
    def run() -> None:
        declare(settings, context=settings.environment)

    run()
    objects = [recorder.objects[key] for key in sorted(recorder.objects)]
    return Rendered(objects=objects, bundles=dict(sorted(recorder.bundles.items())))


def _ensure_event_loop() -> None:
    """Make an event loop where there is none: Pulumi takes it for granted, and Python from 3.14 on makes none."""
    try:
        asyncio.get_event_loop()
    except RuntimeError:
        asyncio.set_event_loop(asyncio.new_event_loop())


def sort_key(manifest: Manifest) -> tuple[str, str, str, str]:
    """Return what identifies an object: namespace, API group, kind and name."""
    metadata = manifest["metadata"]
    group = manifest["apiVersion"].rpartition("/")[0]
    return metadata.get("namespace", ""), group, manifest["kind"], metadata["name"]


def _plain(value: Any, *, secret: bool = False) -> Any:
    """Return what YAML shows of a value: no nulls, whole numbers whole, and nothing of a secret but its keys."""
    if rpc.is_rpc_secret(value):
        return _plain(rpc.unwrap_rpc_secret(value), secret=True)
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: _plain(item, secret=secret) for key, item in items if item is not None}
    if isinstance(value, list):
        return [_plain(item, secret=secret) for item in cast("list[Any]", value)]
    if secret:
        return REDACTED
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
