"""Mistakes in settings, clusters and ports: one clear line, an exit code, and nothing half-applied."""

from __future__ import annotations

import json
import re
import socket
from typing import TYPE_CHECKING

import pytest

from sandbox.control_plane import PORTS
from sandbox.layout import Layout
from tests.e2e.checkout import Checkout
from tests.e2e.objects import processes_of
from tests.e2e.refusals import diagnostic_of, line_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.e2e

VALUES = "values/local.yaml"

MISTAKES = {
    "unknown key": ("  domain:", "  domian:", "mesh.domian: unknown key. Did you mean domain?"),
    "wrong type": (
        "gpus: 8, pods",
        "gpus: many, pods",
        "teams[0].quota.gpus: expected a whole number, got the text 'many'. Write digits, without quotes or unit.",
    ),
    "wrong unit": (
        "memory: 512Gi, gpus",
        "memory: 512GB, gpus",
        "teams[0].quota.memory: '512GB' has a unit that Kubernetes does not know: 'GB'."
        " Write 512G (powers of 1000) or 512Gi (powers of 1024).",
    ),
}

COMMANDS = [("up",), ("sandbox", "up"), ("render", "local")]

UP = ("up", "--yes", "--skip-preview")
PREVIEW = ("preview",)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "checkout")


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Yield a local port that nobody else gets, and where nobody answers."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield reserved.getsockname()[1]


@pytest.fixture
def project(tools: Path, checkout: Checkout, closed_port: int) -> Checkout:
    """The stack `local`, of a cluster that does not answer; nothing is applied yet."""
    checkout.enter()
    checkout.use_cluster("far-away", f"https://127.0.0.1:{closed_port}")
    assert checkout.pulumi("stack", "init", "local").returncode == 0
    return checkout


def resources(checkout: Checkout) -> set[str]:
    """Return the types of all that the stack remembers, besides itself."""
    exported = checkout.pulumi("stack", "export", "--stack", "local")
    listed = json.loads(exported.stdout)["deployment"].get("resources") or []
    return {resource["type"] for resource in listed} - {"pulumi:pulumi:Stack"}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_mistake_in_the_settings_is_one_line_and_nothing_begins(
    command: tuple[str, ...], mistake: str, checkout: Checkout
) -> None:
    old, new, problem = MISTAKES[mistake]
    line = checkout.change(VALUES, old, new)
    before = set(checkout.folder.iterdir())
    assert line_of(checkout.flotilla(*command)) == f"{VALUES}:{line}: {problem}"
    assert set(checkout.folder.iterdir()) == before


@pytest.mark.parametrize(
    ("command", "mistake"),
    [(PREVIEW, "unknown key"), (PREVIEW, "wrong type"), (PREVIEW, "wrong unit"), (UP, "unknown key")],
    ids=str,
)
def test_mistake_in_the_settings_is_one_line_of_the_engine(
    command: tuple[str, ...], mistake: str, project: Checkout
) -> None:
    old, new, problem = MISTAKES[mistake]
    line = project.change(VALUES, old, new)
    assert diagnostic_of(project.pulumi(*command, "--stack", "local")) == f"{VALUES}:{line}: {problem}"
    assert resources(project) == set()


def test_several_mistakes_are_told_at_once(checkout: Checkout) -> None:
    lines = [checkout.change(VALUES, old, new) for old, new, _ in MISTAKES.values()]
    first, *others = checkout.flotilla("up").stderr.splitlines()
    assert first == "error: 3 problems in the settings of local"
    assert [each.split(":")[:2] for each in others] == [[f"  {VALUES}", str(line)] for line in sorted(lines)]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_missing_environment_is_one_line_that_names_the_others(command: tuple[str, ...], checkout: Checkout) -> None:
    (checkout.folder / VALUES).unlink()
    line = line_of(checkout.flotilla(*command))
    assert line == "values: there is no environment 'local'. Known: dev, prod-aws, prod-onprem, staging"
    assert not checkout.state.exists()


def test_missing_base_is_one_line(checkout: Checkout) -> None:
    (checkout.folder / "values" / "base.yaml").unlink()
    assert line_of(checkout.flotilla("render", "local")).startswith("values/base.yaml: ")
    assert not (checkout.folder / "rendered").exists()


def test_missing_environment_is_one_line_of_the_engine(project: Checkout) -> None:
    (project.folder / VALUES).unlink()
    assert diagnostic_of(project.pulumi(*PREVIEW, "--stack", "local")).startswith(
        "values: there is no environment 'local'. Known: "
    )
    assert resources(project) == set()


def test_unreachable_cluster_is_one_line_and_nothing_is_remembered(project: Checkout, closed_port: int) -> None:
    refused = f"context far-away: cannot reach the API server at https://127.0.0.1:{closed_port} "
    assert diagnostic_of(project.pulumi(*UP, "--stack", "local")).startswith(refused)
    assert resources(project) == set()
    assert line_of(project.flotilla("crds", "diff", "local")).startswith(refused)


def test_preview_needs_no_cluster(project: Checkout) -> None:
    previewed = project.pulumi(*PREVIEW, "--stack", "local")
    assert previewed.returncode == 0, previewed.stdout + previewed.stderr


def test_unknown_context_is_one_line_that_names_the_known(project: Checkout) -> None:
    project.change("stacks/Pulumi.local.yaml", "far-away", "farr-away")
    kubeconfig = project.folder / "kubeconfig"
    line = diagnostic_of(project.pulumi(*UP, "--stack", "local"))
    assert line == (
        f"context farr-away: the kubeconfig {kubeconfig} has no such context."
        " It has far-away: name one of them in the stack"
    )
    assert resources(project) == set()


def test_stack_without_a_context_is_one_line(project: Checkout) -> None:
    project.change("stacks/Pulumi.local.yaml", "flotilla:context", "flotilla:contexts")
    line = diagnostic_of(project.pulumi(*UP, "--stack", "local"))
    assert line.startswith("stacks/Pulumi.local.yaml: the stack names no cluster. Run: pulumi config set ")
    assert resources(project) == set()


@pytest.mark.parametrize("command", [("sandbox", "up"), ("up",)], ids=" ".join)
def test_port_in_use_is_one_line_and_nothing_starts(command: tuple[str, ...], tools: Path, checkout: Checkout) -> None:
    layout = Layout(checkout.state / "sandbox")
    layout.records.mkdir(parents=True)
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", 0))
        squatter.listen()
        port = squatter.getsockname()[1]
        remembered = json.dumps({PORTS[0]: port})
        layout.ports.write_text(remembered)
        line = line_of(checkout.flotilla(*command))
    assert re.fullmatch(
        rf"127\.0\.0\.1:{port}: port {port} of {PORTS[0]} is in use( by .* \(pid \d+\))?\. "
        r"End that program, or choose new ports with `flotilla sandbox up --new-ports`",
        line,
    )
    assert layout.ports.read_text() == remembered
    assert not any(layout.records.iterdir())
    assert not processes_of(layout.folder)
    assert not layout.runtime.exists()
