"""`flotilla capacity`, and the warnings of `flotilla settings check`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import typer
import yaml
from typer.testing import CliRunner

from infra.errors import FlotillaError
from infra.paths import ROOT
from ops.capacity.command import capacity
from ops.capacity.manifest import read
from ops.settings import app as settings_app
from tests.unit.settings.folder import make

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

EXAMPLE = ROOT / "examples" / "training" / "pytorch.yaml"
JOB = """
capacity:
  jobs:
    - name: huge
      team: vision
      groups: [{{ name: worker, pods: {pods}, cpu: 8, memory: 8Gi, gpus: 8 }}]
"""
PRICES = """
  prices:
    currency: EUR
    source: a test
    asOf: "2026-01-31"
    machines: [{{ instanceType: m5.xlarge, onDemand: 0.2 }}{more}]
"""

app = typer.Typer()
app.command()(capacity)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def in_folder(folder: Path, overlay: str, *arguments: str) -> Result:
    return run("dev", "--values", str(make(folder, overlay)), *arguments)


def test_report_shows_pools_quotas_jobs_and_zones() -> None:
    result = run("local")

    assert result.exit_code == 0
    for title in ("Node pools", "Quotas against", "Largest single job", "Loss of a zone", "Jobs"):
        assert title in result.stdout
    assert "Prices in EUR as of 2026-11-01: made up" in result.stdout


def test_report_says_that_it_knows_no_prices() -> None:
    result = run("prod-aws")

    assert "No costs: capacity.prices declares no price list." in result.stdout
    assert "a month" not in result.stdout


def test_json_is_whole_and_in_base_units() -> None:
    document = json.loads(run("local", "--json").stdout)

    assert document.keys() == {
        "environment",
        "prices",
        "pools",
        "resources",
        "teams",
        "zones",
        "jobs",
        "monthlyCost",
        "warnings",
    }
    gpu = next(pool for pool in document["pools"] if pool["purpose"] == "gpu")
    assert gpu["atMost"] == {"cpu": 288, "memory": 3 * 1152 * 1024**3, "devices": {"nvidia.com/gpu": 24}}
    assert document["warnings"] == []


def test_job_that_could_never_run_is_a_warning(tmp_path: Path) -> None:
    result = in_folder(tmp_path, JOB.format(pods=2))

    assert result.exit_code == 0
    assert "warning: huge of vision can never run: its pods request 16 GPUs together" in result.stderr
    assert "never: its pods request" in result.stdout


def test_settings_check_warns_of_it_by_file_and_line(tmp_path: Path) -> None:
    values = make(tmp_path, JOB.format(pods=2))
    result = CliRunner().invoke(settings_app, ["check", "dev", "--values", str(values)])

    assert result.exit_code == 0
    (warning,) = result.stderr.replace(f"{tmp_path}/", "").splitlines()
    assert warning.startswith("warning: values/dev.yaml:4: capacity.jobs[0]: huge of vision can never run: ")
    assert warning.endswith("Make it smaller, or raise what it meets.")


def test_settings_check_says_nothing_of_jobs_that_can_run(tmp_path: Path) -> None:
    values = make(tmp_path, JOB.format(pods=1))

    assert CliRunner().invoke(settings_app, ["check", "dev", "--values", str(values)]).stderr == ""


def test_machine_without_a_price_is_a_warning(tmp_path: Path) -> None:
    result = in_folder(tmp_path, "capacity:" + PRICES.format(more=""))

    assert "warning: no price of p4d.24xlarge: the totals they belong to are left out" in result.stderr


def test_job_that_is_asked_about_fails_the_command_when_it_could_never_run(tmp_path: Path) -> None:
    job = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] = 8
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump(job), encoding="utf-8")

    assert run("local", "--job", str(EXAMPLE)).exit_code == 0
    assert run("local", "--job", str(file)).exit_code == 1


def test_example_is_read_as_the_scheduler_counts_it() -> None:
    (job,) = read(EXAMPLE)

    assert (job.name, job.team, job.pods) == ("distributed-pytorch-training", "vision", 4)
    assert (job.requests.cpu, job.requests.memory, job.requests.devices) == (16, 64 * 1024**3, {"nvidia.com/gpu": 4})
    assert {group.tolerations for group in job.groups} == {frozenset({"nvidia.com/gpu"})}


CONTAINER = {"resources": {"requests": {"cpu": "1"}, "limits": {"nvidia.com/gpu": 2, "memory": "1Gi"}}}
TEMPLATE = {"spec": {"containers": [CONTAINER, CONTAINER], "tolerations": [{"operator": "Exists"}]}}
OF_JOBSET = {"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 3, "template": TEMPLATE}}}


@pytest.mark.parametrize(
    ("manifest", "pods"),
    [
        ({"kind": "Pod", "spec": TEMPLATE["spec"]}, 1),
        ({"kind": "Job", "spec": {"parallelism": 3, "completions": 9, "template": TEMPLATE}}, 3),
        ({"kind": "JobSet", "spec": {"replicatedJobs": [OF_JOBSET]}}, 6),
        ({"kind": "MPIJob", "spec": {"mpiReplicaSpecs": {"Launcher": {"template": TEMPLATE}}}}, 1),
    ],
)
def test_jobs_of_every_kind_are_read(manifest: dict[str, object], pods: int, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump({**manifest, "metadata": {"name": "job"}}), encoding="utf-8")
    (job,) = read(file)

    assert job.pods == pods
    assert (job.requests.cpu, job.requests.devices) == (2 * pods, {"nvidia.com/gpu": 4 * pods})
    assert job.groups[0].tolerations is None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("kind: Service\nmetadata: { name: s }\nspec: {}", "it is a Service. Give a manifest of PyTorchJob"),
        ("kind: Pod\nmetadata: { name: p }\nspec: {}", "is not a whole job: 'containers'"),
        ("a: [", "is not YAML"),
        ("just words", "is not a whole job"),
    ],
)
def test_file_that_is_no_job_is_one_clear_error(text: str, what: str, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(FlotillaError) as caught:
        read(file)
    assert what in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_file_that_is_missing_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(FlotillaError, match="cannot be read: No such file"):
        read(tmp_path / "none.yaml")
