"""Fixtures of the end-to-end tests: the built tools, and one sandbox that the whole run shares."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from infra.settings import load
from sandbox import users
from sandbox.cluster import Sandbox
from sandbox.nodes import from_settings
from sandbox.tools import Toolchain
from tests.e2e.node_pools import Pools, system_nodes
from tests.e2e.platform import Platform
from tests.e2e.process_pods import Place
from tests.servers.clients import with_clients
from tests.servers.fixtures import *  # noqa: F403 - a conftest offers what it imports
from tests.servers.registries import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def tools() -> Path:
    """Return the folder of the sandbox's programs; `flotilla toolchain build` makes it."""
    return Toolchain.find().bin


@pytest.fixture(scope="session")
def sandbox(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Yield a running sandbox with the nodes and people of the environment `local`.

    Tests share it, so each uses namespaces of its own and leaves the nodes alone.
    """
    settings = load("local")
    shared = Sandbox("sandbox", tmp_path_factory.mktemp("shared") / "sandbox", tools=tools)
    shared.up(from_settings(settings), users=users.from_settings(settings))
    try:
        yield shared
    finally:
        shared.down()


@pytest.fixture(scope="session")
def data_sandbox(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Yield a running sandbox whose process pods have the clients of real servers."""
    folder = tmp_path_factory.mktemp("data")
    try:
        programs = with_clients(tools, folder / "tools")
    except UnavailableError as error:
        pytest.skip(f"no client for process pods on this machine: {error}")
    own = Sandbox("data", folder / "sandbox", tools=programs)
    own.up(from_settings(load("local")))
    try:
        yield own
    finally:
        own.down()


@pytest.fixture
def new_sandbox(tools: Path, tmp_path: Path) -> Iterator[Callable[[], Sandbox]]:
    """Yield a maker of sandboxes that nothing else uses; each is ended after the test."""
    numbers = itertools.count(1)
    made: list[Sandbox] = []

    def make() -> Sandbox:
        name = f"own{next(numbers)}"
        made.append(Sandbox(name, tmp_path / name, tools=tools))
        return made[-1]

    try:
        yield make
    finally:
        for each in made:
            each.down()


@pytest.fixture
def place(sandbox: Sandbox) -> Iterator[Place]:
    """Yield a namespace of the shared sandbox, for pods that run as processes."""
    with sandbox.api() as api:
        here = Place(sandbox, api)
        yield here
        api.delete(f"/api/v1/namespaces/{here.name}")


@pytest.fixture(scope="session")
def installation(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """Yield the environment `local` on a sandbox that only the platform's tests use; `platform` brings it up."""
    settings, folder = load("local"), tmp_path_factory.mktemp("platform")
    own = Sandbox("platform", folder / "sandbox", tools=tools)
    own.up(from_settings(settings), users=users.from_settings(settings))
    try:
        yield Platform(own, folder)
    finally:
        own.down()


@pytest.fixture
def platform(installation: Platform) -> Iterator[Platform]:
    """Yield the environment `local`, up as declared. Tests share it, so each leaves it as it was."""
    installation.ensure_up()
    try:
        yield installation
    finally:
        installation.remove_jobs()


@pytest.fixture(scope="session")
def pools(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pools]:
    """Yield a platform with Karpenter and simulated machines; tests leave its pools empty."""
    folder = tmp_path_factory.mktemp("pools")
    own = Sandbox("pools", folder / "sandbox", tools=tools)
    own.up(system_nodes())
    try:
        grown = Pools(own, folder)
        grown.ensure_up()
        yield grown
    finally:
        own.down()
