"""The real engine, without a cluster, on the toolchain's language host: programs, policy packs, failures, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from ops.env import environment
from sandbox.tools import Toolchain

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e

PROGRAM = """
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Provider(ResourceProvider):
    def create(self, props):
        return CreateResult("an-id", {"size": 3})


class Thing(Resource):
    size: pulumi.Output[int]

    def __init__(self, name):
        super().__init__(Provider(), name, {"size": None})


print("hello from the program")
thing = Thing("thing")
pulumi.export("size", thing.size)
pulumi.export("greeting", pulumi.Config().require("greeting"))
"""

PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy


def no_things(args, report):
    if args.resource_type == "pulumi-python:dynamic:Resource":
        report("things are not allowed")


PolicyPack("tiny", [ResourceValidationPolicy("no-things", "No things.", no_things, EnforcementLevel.MANDATORY)])
"""

FAILING = """
import deeper

deeper.fail()
"""

DEEPER = """
def fail():
    raise ValueError("the program is broken")
"""

WAITING = """
import pathlib, time

pathlib.Path("started").write_text("")
time.sleep(300)
"""


class Project:
    """A throw-away project with a stack, on a backend and engine home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.pack = folder / "pack"
        (self.folder / "program").mkdir(parents=True)
        self.pack.mkdir()
        (self.folder / "Pulumi.yaml").write_text("name: tiny\nruntime: python\nmain: program\n")
        (self.pack / "PulumiPolicy.yaml").write_text("name: tiny\nversion: 0.1.0\nruntime: python\n")
        (self.pack / "__main__.py").write_text(PACK)
        self.write(PROGRAM)
        self.variables = os.environ | environment(Toolchain.find(), folder / "state")
        for command in (("stack", "init", "local"), ("config", "set", "greeting", "hi")):
            assert self.pulumi(*command).returncode == 0

    def write(self, program: str, name: str = "__main__.py") -> None:
        (self.folder / "program" / name).write_text(program)

    def command(self, *arguments: str) -> list[str]:
        return ["pulumi", *arguments, "--non-interactive", "--color", "never"]

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_program_is_previewed_applied_refreshed_and_destroyed(project: Project) -> None:
    preview = project.pulumi("preview")
    assert preview.returncode == 0, preview.stdout
    assert "hello from the program" in preview.stdout
    assert "+ 2 to create" in preview.stdout
    up = project.pulumi("up", "--yes", "--skip-preview")
    assert up.returncode == 0, up.stdout
    assert "size    : 3" in up.stdout
    assert 'greeting: "hi"' in up.stdout
    again = project.pulumi("up", "--yes", "--skip-preview", "--expect-no-changes")
    assert again.returncode == 0, again.stdout
    assert project.pulumi("refresh", "--yes", "--skip-preview").returncode == 0
    destroy = project.pulumi("destroy", "--yes", "--skip-preview")
    assert "- 2 deleted" in destroy.stdout
    assert all("warning" not in run.stdout for run in (preview, up, again, destroy))


def test_failing_program_shows_its_own_traceback_only(project: Project) -> None:
    project.write(FAILING)
    project.write(DEEPER, "deeper.py")
    run = project.pulumi("preview")
    assert run.returncode != 0
    assert "ValueError: the program is broken" in run.stdout
    assert "deeper.fail()" in run.stdout
    assert "language_host" not in run.stdout
    assert "runpy" not in run.stdout


def test_missing_program_is_named(project: Project) -> None:
    (project.folder / "program" / "__main__.py").unlink()
    run = project.pulumi("preview")
    assert run.returncode != 0
    assert "has no __main__.py to run" in run.stdout


def test_missing_virtual_environment_is_explained(project: Project) -> None:
    (project.folder / "Pulumi.yaml").write_text(
        "name: tiny\nmain: program\nruntime:\n  name: python\n  options:\n    virtualenv: nowhere\n"
    )
    run = project.pulumi("preview")
    assert run.returncode != 0
    assert f"{project.folder}/nowhere is not a virtual environment" in run.stdout


def test_mandatory_policy_stops_the_update(project: Project) -> None:
    run = project.pulumi("up", "--yes", "--skip-preview", "--policy-pack", str(project.pack))
    assert run.returncode != 0
    assert "[mandatory]  no-things" in run.stdout
    assert "things are not allowed" in run.stdout


def test_policy_pack_lets_pass_what_it_allows(project: Project) -> None:
    project.write("print('nothing here')")
    run = project.pulumi("preview", "--policy-pack", str(project.pack))
    assert run.returncode == 0, run.stdout
    assert "tiny@v0.1.0" in run.stdout


def test_broken_policy_pack_shows_its_error(project: Project) -> None:
    (project.pack / "__main__.py").write_text("raise ValueError('the pack is broken')")
    run = project.pulumi("preview", "--policy-pack", str(project.pack))
    assert run.returncode != 0
    assert "the pack is broken" in run.stdout


def test_about_names_the_python_and_its_packages(project: Project) -> None:
    run = project.pulumi("about")
    assert f"executable='{sys.prefix}/bin/python'" in run.stdout
    assert "flotilla" in run.stdout


def test_interrupt_ends_engine_program_and_policies_without_a_traceback(project: Project) -> None:
    project.write(WAITING)
    started = project.folder / "program" / "started"
    os.mkfifo(started)
    with subprocess.Popen(
        project.command("preview", "--policy-pack", str(project.pack)),
        cwd=project.folder,
        env=project.variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as engine:
        started.read_text()
        family = psutil.Process(engine.pid).children(recursive=True)
        engine.send_signal(signal.SIGINT)
        output, _ = engine.communicate()
    assert engine.returncode != 0
    assert "Traceback" not in output
    assert "KeyboardInterrupt" not in output
    assert len(family) >= 3  # the host, the program and the policy pack
    _, alive = psutil.wait_procs(family, timeout=30)
    assert alive == []
