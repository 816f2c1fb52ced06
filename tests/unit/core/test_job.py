"""A Job runs its files' script once, restricted, and again when it or its files change."""

from __future__ import annotations

from typing import Any

from infra.core.job import FILES_PATH, SCRATCH_PATH, Job, JobArgs
from infra.core.parts import FromSecret, Permissions, Rule
from tests.unit.core.examples import container, resources
from tests.unit.core.recording import Recording, record

PASSWORD = FromSecret(secret="login", key="password")


def job(script: str = "true", **changes: Any) -> Recording:
    """Return what a Job with this script declares."""
    args = JobArgs(
        namespace="harbour",
        part_of="fleet",
        container=container(probes=None, ports=(), environment={"PASSWORD": PASSWORD}),
        resources=resources(),
        files={"run.sh": script},
        **changes,
    )
    return record(lambda: Job("paint", args))


def template(recording: Recording) -> dict[str, Any]:
    return recording.one("Job")["spec"]["template"]


def test_files_are_shown_and_only_scratch_can_be_written() -> None:
    recording = job()
    spec = template(recording)["spec"]
    mounts = {mount["mountPath"]: mount["readOnly"] for mount in spec["containers"][0]["volumeMounts"]}

    assert recording.one("ConfigMap", "paint")["data"] == {"run.sh": "true"}
    assert mounts == {FILES_PATH: True, SCRATCH_PATH: False}
    assert spec["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True


def test_job_whose_files_changed_is_another_job() -> None:
    before, same, after = (template(each)["metadata"]["annotations"] for each in (job(), job(), job("false")))

    assert before == same
    assert before != after


def test_failures_are_bounded_and_keep_their_logs() -> None:
    recording = job()
    spec = recording.one("Job")["spec"]

    assert (spec["backoffLimit"], spec["activeDeadlineSeconds"]) == (6, 900)
    assert template(recording)["spec"]["restartPolicy"] == "Never"


def test_nobody_may_connect_and_nothing_is_permitted_unless_asked_for() -> None:
    recording = job()
    reader = Permissions(namespace=(Rule(groups=("",), resources=("secrets",), verbs=("get",), names=("one",)),))

    assert recording.one("NetworkPolicy")["spec"]["ingress"] == []
    assert template(recording)["spec"]["automountServiceAccountToken"] is False
    assert "Role" not in recording.kinds()
    assert template(job(permissions=reader))["spec"]["automountServiceAccountToken"] is True


def test_secrets_reach_the_environment_by_reference() -> None:
    (variable,) = template(job())["spec"]["containers"][0]["env"]

    assert variable == {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "login", "key": "password"}}}


def test_job_starts_once_its_files_are_there() -> None:
    recording = job()

    assert {recording.resource("ConfigMap").urn, recording.resource("ServiceAccount").urn} <= recording.awaited("Job")
