"""How a process pod lives: starts, probes, restarts and ends as under a kubelet."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.e2e.objects import eventually
from tests.e2e.process_pods import SERVER, Place

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.e2e


def test_pod_waits_for_what_it_refers_to(place: Place) -> None:
    place.run(
        "late",
        SERVER,
        container={"volumeMounts": [{"name": "conf", "mountPath": "/conf"}]},
        volumes=[{"name": "conf", "configMap": {"name": "later"}}],
    )
    events = f"{place.path}/events"
    wanted = f'configmap "{place.name}/later" not found'
    eventually(lambda: any(wanted in item["message"] for item in place.api.get(events)["items"]))
    assert place.pod("late")["status"]["phase"] == "Pending"
    place.api.create(
        f"{place.path}/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "later"}}
    )
    place.until_ready("late")


def test_killed_process_is_restarted_and_reported_like_a_kubelet_would(place: Place) -> None:
    place.serve("web")
    first = place.process("web")
    os.kill(first.pid, signal.SIGKILL)
    eventually(lambda: place.container("web").get("restartCount") == 1)
    place.until_ready("web")
    last = place.container("web")["lastState"]["terminated"]
    assert (last["exitCode"], last["reason"]) == (137, "Error")
    assert place.process("web").pid != first.pid
    assert place.kubectl("logs", "web", "--previous").text.startswith("serving\n")


def test_failing_liveness_probe_restarts_the_container(place: Place) -> None:
    probe = {"httpGet": {"path": "/healthy", "port": "http"}, "periodSeconds": 1, "failureThreshold": 2}
    place.serve(
        "web",
        container={
            "livenessProbe": probe,
            "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}],  # noqa: S108 - the pod's own
        },
        volumes=[{"name": "scratch", "emptyDir": {}}],
    )
    place.ask("web", "write/tmp/sick")
    eventually(lambda: place.container("web").get("restartCount", 0) >= 1)
    assert place.container("web")["lastState"]["terminated"]["exitCode"] == 143


def test_command_probes_run_inside_the_container(place: Place) -> None:
    command = ["python3", "-c", "import os; assert os.uname().nodename == 'web'; open('/proc/1/cmdline')"]
    place.serve("web", container={"readinessProbe": {"exec": {"command": command}, "timeoutSeconds": 5}})


def test_deleted_pod_gets_its_grace_and_ends_in_order(place: Place) -> None:
    code = """
import signal, sys, time
def end(*_):
    print("asked")
    time.sleep(1)
    print("done")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("up")
while True:
    time.sleep(1)
"""
    place.run("polite", code, terminationGracePeriodSeconds=20)
    eventually(lambda: place.kubectl("logs", "polite").text == "up\n")
    with place.following("polite") as logs:
        place.api.delete(f"{place.path}/pods/polite")
        output, _ = logs.communicate(timeout=60)
    assert output == "up\nasked\ndone\n"
    eventually(lambda: place.gone("polite"))


def test_process_that_ignores_sigterm_is_killed_after_its_grace(place: Place) -> None:
    code = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up')\nwhile True: time.sleep(1)"
    place.run("stubborn", code, terminationGracePeriodSeconds=2)
    eventually(lambda: place.kubectl("logs", "stubborn").text == "up\n")
    process = place.process("stubborn")
    place.api.delete(f"{place.path}/pods/stubborn")
    assert process.is_running()
    eventually(lambda: place.gone("stubborn"))
    assert not process.is_running()


@pytest.mark.parametrize(
    ("policy", "code", "phase"), [("Never", 0, "Succeeded"), ("Never", 7, "Failed"), ("OnFailure", 0, "Succeeded")]
)
def test_pod_that_ends_shows_how(place: Place, policy: str, code: int, phase: str) -> None:
    place.run("job", f"print('done'); raise SystemExit({code})", restartPolicy=policy)
    eventually(lambda: place.pod("job")["status"].get("phase") == phase)
    end = place.container("job")["state"]["terminated"]
    assert (end["exitCode"], end["reason"]) == (code, "Completed" if code == 0 else "Error")
    assert place.kubectl("logs", "job").text == "done\n"


def test_failing_pod_is_tried_again_with_growing_delays(place: Place) -> None:
    place.run("crash", "raise SystemExit(3)", restartPolicy="OnFailure")
    eventually(lambda: place.container("crash").get("restartCount") == 1)
    eventually(lambda: "waiting" in place.container("crash")["state"])
    status = place.container("crash")
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert status["lastState"]["terminated"]["exitCode"] == 3


def test_program_that_does_not_exist_is_a_start_error(place: Place) -> None:
    place.run("typo", "", restartPolicy="Never", container={"command": ["pyhton"]})
    eventually(lambda: place.pod("typo")["status"].get("phase") == "Failed")
    end = place.container("typo")["state"]["terminated"]
    assert end["reason"] == "StartError"
    assert "executable file not found" in end["message"]


def test_container_waits_for_a_config_map_its_environment_names(place: Place) -> None:
    reference = {"configMapKeyRef": {"name": "later", "key": "k"}}
    place.run("waiting", SERVER, container={"env": [{"name": "X", "valueFrom": reference}]})

    def reason() -> str | None:
        return place.container("waiting").get("state", {}).get("waiting", {}).get("reason")

    eventually(lambda: reason() == "CreateContainerConfigError")
    later = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "later"}, "data": {"k": "v"}}
    place.api.create(f"{place.path}/configmaps", later)
    eventually(lambda: place.container("waiting").get("ready") is True)
    assert place.container("waiting")["restartCount"] == 0
