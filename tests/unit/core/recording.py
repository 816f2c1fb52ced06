"""Declares resources without an engine and keeps what the engine would have been told."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import pulumi
from pulumi.runtime import mocks, reset_options
from pulumi.runtime.proto import resource_pb2

from ops.manifests import Manifest

PROJECT, STACK = "flotilla", "test"
STACK_TYPE = "pulumi:pulumi:Stack"


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One registered resource.

    Args:
        urn: its URN, with the types of all its parents, as the engine would make it.
        inputs: its inputs; of a Kubernetes resource, the manifest.
        after: URNs of what it depends on.
        parent: URN of the component it belongs to; the stack's, or empty, where it belongs to none.
        provider: the provider it names, as URN and id; empty where it would use the default one.
    """

    urn: str
    inputs: Manifest
    after: frozenset[str]
    parent: str
    provider: str

    @property
    def identity(self) -> str:
        """What stays of the URN whatever the stack and project are called: qualified type and name."""
        return self.urn.split("::", 2)[2]

    @property
    def type(self) -> str:
        """The type token, without its parents'."""
        return self.urn.split("::")[2].rpartition("$")[2]


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What one declaration registered, in no particular order."""

    resources: Sequence[Declared]

    def kinds(self) -> list[str]:
        """Return the kind of every Kubernetes object, sorted."""
        return sorted(resource.inputs["kind"] for resource in self.resources if "kind" in resource.inputs)

    def all(self, kind: str) -> list[Manifest]:
        """Return every object of the kind, by name."""
        found = [resource.inputs for resource in self.resources if resource.inputs.get("kind") == kind]
        return sorted(found, key=lambda manifest: manifest["metadata"]["name"])

    def one(self, kind: str, name: str | None = None) -> Manifest:
        """Return the one object of the kind, or of kind and name."""
        return self.resource(kind, name).inputs

    def resource(self, kind: str, name: str | None = None) -> Declared:
        """Return the one resource behind an object of the kind, or of kind and name."""
        found = [
            resource
            for resource in self.resources
            if resource.inputs.get("kind") == kind and name in (None, resource.inputs["metadata"]["name"])
        ]
        assert len(found) == 1, f"{len(found)} objects {kind} {name or ''} among {self.kinds()}"
        return found[0]

    def awaited(self, kind: str, name: str | None = None) -> set[str]:
        """Return the URNs of all that an object waits for: what it and the components around it depend on."""
        by_urn = {resource.urn: resource for resource in self.resources}
        each: Declared | None = self.resource(kind, name)
        found: set[str] = set()
        while each:
            found |= each.after
            each = by_urn.get(each.parent)
        return found


def record(declare: Callable[[], object]) -> Recording:
    """Return what `declare` registers, in an event loop and a Pulumi runtime of its own."""
    monitor = _Monitor()
    with _fresh_loop(_current_loop()):
        mocks.set_mocks(monitor.mocks, project=PROJECT, stack=STACK, preview=False, monitor=monitor)

        @pulumi.runtime.test
        def run() -> None:
            declare()

        try:
            run()
        finally:
            reset_options()
    return Recording(resources=monitor.declared)


@contextmanager
def _fresh_loop(before: asyncio.AbstractEventLoop | None = None) -> Generator[None]:
    """Give this thread an event loop, which Pulumi takes where it finds one, and afterwards the one from before."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(before)
        loop.close()


def _current_loop() -> asyncio.AbstractEventLoop | None:
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        try:
            return asyncio.get_event_loop()
        except RuntimeError:
            return None


class _Echo(mocks.Mocks):
    """Answers with the inputs as outputs, and refuses function calls: they would need a cluster."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[Any, Any]]:
        if args.typ.endswith(":GeneratedPassword"):
            return args.name, {**args.inputs, "password": f"generated for {args.name}"}
        return args.name, args.inputs

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]]]:
        raise AssertionError(f"{args.token} was called")


class _Monitor(mocks.MockMonitor):
    """Makes URNs as the engine does, refuses duplicates, and keeps dependencies, which plain mocks forget."""

    def __init__(self) -> None:
        super().__init__(_Echo())
        self.declared: list[Declared] = []

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        above = parent.split("::")[2] if parent else STACK_TYPE
        qualified = type_ if above == STACK_TYPE else f"{above}${type_}"
        return f"urn:pulumi:{STACK}::{PROJECT}::{qualified}::{name}"

    def RegisterResource(  # noqa: N802 - the engine's name
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        with _fresh_loop():  # called on a thread of its own
            response = super().RegisterResource(request)
        if request.type != STACK_TYPE:
            assert response.urn not in {resource.urn for resource in self.declared}, f"declared twice: {response.urn}"
            inputs = cast("Manifest", self.resources[response.urn].state)
            self.declared.append(
                Declared(
                    urn=response.urn,
                    inputs=inputs,
                    after=frozenset(request.dependencies),
                    parent=request.parent,
                    provider=request.provider,
                )
            )
        return response
