"""Images, identities, file systems and logs of process pods."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from infra.errors import FlotillaError
from sandbox.agent.description import Description, Report
from sandbox.agent.environment import ConfigError
from sandbox.agent.filesystem import plan
from sandbox.agent.images import NOBODY, PROCESS_IMAGES, PYTHON, image_of, is_process_pod, repository
from sandbox.agent.kubelet_api import tail_offset
from sandbox.agent.launching import ImageError, find_program, hostname
from sandbox.agent.pod_folder import LOG_LIMIT_BYTES, PodFolder, sweep
from sandbox.agent.security import identity
from sandbox.agent.simulated import SIMULATED, says_simulated, simulated_status, why_simulated
from tests.unit.agent_objects import pod

Json = dict[str, Any]
OPERATOR = "ghcr.io/kubeflow/training-v1/training-operator"


@pytest.mark.parametrize(
    "reference",
    [f"{OPERATOR}:v1-93c5489", OPERATOR, f"{OPERATOR}@sha256:ab", f"{OPERATOR}:v1@sha256:ab"],
)
def test_image_goes_by_its_repository(reference: str) -> None:
    assert repository(reference) == OPERATOR


def test_port_of_a_registry_is_no_tag() -> None:
    assert repository("localhost:5000/app") == "localhost:5000/app"
    assert repository("localhost:5000/app:1") == "localhost:5000/app"


def test_pod_runs_as_processes_only_if_every_container_has_a_program() -> None:
    ours, other = {"name": "a", "image": PYTHON}, {"name": "b", "image": "nginx:1"}
    assert is_process_pod(pod(containers=[ours]))
    assert is_process_pod(pod(containers=[ours], init=[other]))
    assert not is_process_pod(pod(containers=[ours, other]))


def test_missing_program_is_said_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImageError, match="training-operator, which is neither in"):
        find_program(f"{OPERATOR}:v1-93c5489", tmp_path)


def test_program_of_the_tools_folder_is_found(tmp_path: Path) -> None:
    tool = tmp_path / "training-operator"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    image, program = find_program(OPERATOR, tmp_path)
    assert (image.path, program) == ("/manager", tool)


@pytest.mark.parametrize(
    ("images", "obstacle", "expected"),
    [
        ([OPERATOR], None, None),
        ([], None, "missing program: training-operator"),
        ([OPERATOR], "no namespaces", "no namespaces"),
    ],
)
def test_reason_for_simulating_a_process_pod(images: list[str], obstacle: str | None, expected: str | None) -> None:
    target = pod(containers=[{"name": "a", "image": f"{OPERATOR}:v1"}])
    assert why_simulated(target, images=images, obstacle=obstacle) == expected


def test_simulated_pod_says_so_once() -> None:
    target = pod()
    assert not says_simulated(target)
    target["status"] |= simulated_status("no namespaces")
    assert says_simulated(target)
    assert target["status"]["conditions"][0]["type"] == SIMULATED
    assert "no namespaces" in target["status"]["conditions"][0]["message"]


def test_report_survives_being_written(tmp_path: Path) -> None:
    assert Report.read(tmp_path) is None
    report = Report(processes=True, images=(PYTHON,))
    report.write(tmp_path)
    assert Report.read(tmp_path) == report


def test_image_without_named_user_runs_as_nobody_and_without_privileges() -> None:
    settings = {"capabilities": {"drop": ["ALL"]}, "allowPrivilegeEscalation": False}
    who = identity(pod(), {"securityContext": settings}, NOBODY)
    assert who == {
        "user": NOBODY,
        "group": NOBODY,
        "groups": [],
        "capabilities": [],
        "no_new_privileges": True,
    }


def test_containers_settings_win_over_the_pods() -> None:
    target = pod(securityContext={"runAsUser": 1, "fsGroup": 5, "supplementalGroups": [7]})
    added = {"drop": ["ALL"], "add": ["NET_BIND_SERVICE", "SYS_ADMIN"]}
    who = identity(target, {"securityContext": {"runAsUser": 2, "capabilities": added}}, NOBODY)
    assert (who["user"], who["group"], who["groups"], who["capabilities"]) == (2, 0, [5, 7], [10])


def test_root_is_refused_where_it_is_forbidden() -> None:
    with pytest.raises(ConfigError, match="runAsNonRoot"):
        identity(pod(securityContext={"runAsNonRoot": True, "runAsUser": 0}), {}, NOBODY)


def test_host_name_fits_its_limit() -> None:
    assert hostname(pod()) == "web-0"
    assert hostname(pod(hostname="other")) == "other"
    long = pod()
    long["metadata"]["name"] = "a" * 62 + "-b"
    assert hostname(long) == "a" * 62


def test_file_system_has_program_volumes_and_pod_files(tmp_path: Path) -> None:
    image = PROCESS_IMAGES[OPERATOR]
    folder = PodFolder(tmp_path / "demo_web-0")
    volume = tmp_path / "cert"
    (volume / "sub").mkdir(parents=True)
    container = {
        "name": "main",
        "volumeMounts": [
            {"name": "cert", "mountPath": "/srv/certs/deeper", "subPath": "sub"},
            {"name": "cert", "mountPath": "/srv/certs", "readOnly": True},
            {"name": "none", "mountPath": "/none"},
        ],
    }
    entries = plan(container, image, tmp_path / "program", folder, {"cert": volume})
    by_target = {entry["target"]: entry for entry in entries}
    targets = list(by_target)
    assert by_target["/manager"]["source"] == str(tmp_path / "program")
    assert by_target["/srv/certs"]["read_only"]
    assert by_target["/srv/certs/deeper"]["source"] == str(volume / "sub")
    assert targets.index("/etc/hosts") < targets.index("/srv/certs") < targets.index("/srv/certs/deeper")
    assert by_target["/etc/hosts"]["kind"] == "link"
    assert by_target["/usr"]["read_only"]
    assert not by_target["/dev/termination-log"]["read_only"]
    assert "/none" not in by_target


def test_new_log_keeps_the_one_before_it(tmp_path: Path) -> None:
    folder = PodFolder.of(tmp_path, "demo", "web-0")
    folder.prepare("u-1")
    for text in (b"first", b"second"):
        descriptor = folder.open_log("main")
        os.write(descriptor, text)
        os.close(descriptor)
    assert folder.log("main").read_bytes() == b"second"
    assert folder.log("main", previous=True).read_bytes() == b"first"


def test_log_that_grew_too_long_is_cut(tmp_path: Path) -> None:
    folder = PodFolder.of(tmp_path, "demo", "web-0")
    folder.prepare("u-1")
    with folder.log("main").open("wb") as file:
        file.truncate(LOG_LIMIT_BYTES + 1)
    folder.trim_log("main")
    assert folder.log("main").stat().st_size == 0
    assert folder.log("main", previous=True).stat().st_size == LOG_LIMIT_BYTES + 1


def test_folder_of_an_earlier_pod_of_the_same_name_is_emptied_and_then_left_to_the_new_one(tmp_path: Path) -> None:
    folder = PodFolder.of(tmp_path, "demo", "web-0")
    folder.prepare("u-1")
    folder.log("main").write_text("old")
    folder.prepare("u-2")
    assert not folder.log("main").exists()
    folder.remove("u-1")
    assert folder.path.exists()
    folder.remove("u-2")
    assert not folder.path.exists()


def test_folders_of_pods_that_are_gone_are_swept_away(tmp_path: Path) -> None:
    kept, gone = PodFolder.of(tmp_path, "demo", "a"), PodFolder.of(tmp_path, "demo", "b")
    kept.prepare("u-1")
    gone.prepare("u-2")
    sweep(tmp_path, {"u-1"}.__contains__)
    assert kept.path.exists()
    assert not gone.path.exists()


def test_last_words_come_from_the_message_file_else_the_log(tmp_path: Path) -> None:
    folder = PodFolder.of(tmp_path, "demo", "web-0")
    folder.prepare("u-1")
    folder.log("main").write_text("boom")
    folder.fresh_termination_message("main")
    assert folder.last_words("main", from_log=False) == ""
    assert folder.last_words("main", from_log=True) == "boom"
    folder.termination_message("main").write_text("why")
    assert folder.last_words("main", from_log=True) == "why"


@pytest.mark.parametrize(("lines", "expected"), [(0, ""), (1, "c\n"), (2, "b\nc\n"), (9, "a\nb\nc\n")])
def test_tail_of_a_log(tmp_path: Path, lines: int, expected: str) -> None:
    log = tmp_path / "log"
    log.write_text("a\nb\nc\n")
    assert log.read_text()[tail_offset(log, lines) :] == expected


def test_tail_of_a_log_with_an_unfinished_last_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("a\n" * 100_000 + "end")
    assert log.read_text()[tail_offset(log, 2) :] == "a\nend"


def test_init_container_without_program_has_no_image() -> None:
    assert image_of({"name": "init", "image": "alpine:3"}) is None


def test_description_without_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FlotillaError, match="flotilla sandbox up"):
        Description.read(tmp_path)
