"""Process pods: the agent does for real processes what a kubelet does for containers."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from sandbox.agent.images import PROCESS_IMAGES, PYTHON
from sandbox.agent.pod_folder import PodFolder
from sandbox.agent.simulated import SIMULATED
from sandbox.agent_process import NAME, tools_folder
from sandbox.cluster import Sandbox
from sandbox.nodes import Node
from tests.e2e.objects import eventually, namespace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sandbox.api import ApiClient, Json

pytestmark = pytest.mark.e2e

RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}
SERVER = """
import http.server, json, os, pathlib, signal, sys, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind, _, rest = self.path[1:].partition("/")
        try:
            if kind == "env": body = json.dumps(dict(os.environ))
            elif kind == "file": body = pathlib.Path("/" + rest).read_text()
            elif kind == "fetch": body = urllib.request.urlopen("http://" + rest, timeout=5).read().decode()
            elif kind == "user": body = f"{os.getuid()} {os.getgid()} {sorted(os.getgroups())}"
            elif kind == "write": body = str(pathlib.Path("/" + rest).write_text("x"))
            elif kind == "healthy": body = str(not pathlib.Path("/tmp/sick").exists())
            else: body = os.uname().nodename
            self.send_response(500 if body == "False" else 200)
        except OSError as error:
            body = repr(error)
            self.send_response(502)
        self.end_headers()
        self.wfile.write(body.encode())
http.server.ThreadingHTTPServer.daemon_threads = True
print("serving", flush=True)
http.server.ThreadingHTTPServer(("", 8080), Handler).serve_forever()
"""


class Place:
    """A namespace of the sandbox, with what the tests do there."""

    def __init__(self, sandbox: Sandbox, api: ApiClient) -> None:
        self.sandbox = sandbox
        self.api = api
        self.name = namespace(api, RESTRICTED)
        self.path = f"/api/v1/namespaces/{self.name}"
        kubectl = str(tools_folder(sandbox.folder) / "kubectl")
        self.command = [kubectl, "--kubeconfig", str(sandbox.kubeconfig), "--namespace", self.name]

    def run(self, name: str, code: str, *, labels: dict[str, str] | None = None, **more: Any) -> None:
        """Create a pod of one Python process; `container` among the keywords adds to the container."""
        container: Json = {
            "name": "main",
            "image": f"{PYTHON}:3",
            "command": ["python3", "-u", "-c", code],
            "resources": {"requests": {"cpu": "10m"}},
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            },
            **more.pop("container", {}),
        }
        security: Json = {"runAsNonRoot": True, "runAsUser": 1234, "fsGroup": 4321}
        security["seccompProfile"] = {"type": "RuntimeDefault"}
        spec = {"containers": [container], "securityContext": security, "terminationGracePeriodSeconds": 5, **more}
        metadata = {"name": name, "labels": labels or {}}
        self.api.create(f"{self.path}/pods", {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})

    def serve(self, name: str, *, container: Json | None = None, **more: Any) -> None:
        """Create a pod with the test server and wait until it is ready."""
        probe = {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 1}
        self.run(
            name,
            SERVER,
            labels={"app": name},
            container={
                "ports": [{"containerPort": 8080, "name": "http"}],
                "readinessProbe": probe,
                **(container or {}),
            },
            **more,
        )
        self.until_ready(name)

    def until_ready(self, name: str) -> None:
        """Wait until a pod is ready."""
        eventually(lambda: self.condition(name, "Ready") == "True")

    def condition(self, name: str, kind: str) -> str | None:
        """Return the status of one of a pod's conditions."""
        conditions: list[Json] = self.pod(name)["status"].get("conditions", [])
        return next((item["status"] for item in conditions if item["type"] == kind), None)

    def pod(self, name: str) -> Json:
        """Return a pod."""
        return self.api.get(f"{self.path}/pods/{name}")

    def container(self, name: str) -> Json:
        """Return the status of a pod's container."""
        return (self.pod(name)["status"].get("containerStatuses") or [{}])[0]

    def expose(self, name: str, port: int = 80) -> None:
        """Create a Service for the pod of that name and wait until it has an endpoint."""
        spec = {"selector": {"app": name}, "ports": [{"port": port, "targetPort": "http"}]}
        self.api.create(
            f"{self.path}/services",
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec},
        )
        eventually(lambda: self.kubectl("get", "--raw", f"{self.path}/services/http:{name}:{port}/proxy/").ok)

    def ask(self, name: str, question: str) -> str:
        """Return what the test server of a pod answers, through the API server's proxy."""
        return self.kubectl("get", "--raw", f"{self.path}/pods/http:{name}:8080/proxy/{question}").text

    def kubectl(self, *arguments: str) -> Answer:
        """Run kubectl as the administrator."""
        command = [*self.command, *arguments]
        return Answer(subprocess.run(command, capture_output=True, text=True, timeout=60, check=False))

    def following(self, name: str) -> subprocess.Popen[str]:
        """Start to follow a pod's log."""
        return subprocess.Popen([*self.command, "logs", "--follow", name], stdout=subprocess.PIPE, text=True)

    def process(self, name: str) -> psutil.Process:
        """Return the process of a pod's container."""
        folder = PodFolder.of(self.sandbox.layout.pods, self.name, name)
        return psutil.Process(int(folder.pid("main").read_text()))

    def gone(self, name: str) -> bool:
        """Return whether a pod is no longer there."""
        return self.api.find(f"{self.path}/pods/{name}") is None


class Answer:
    """What a command said."""

    def __init__(self, result: subprocess.CompletedProcess[str]) -> None:
        self.ok = result.returncode == 0
        self.text = result.stdout
        self.error = result.stderr


@pytest.fixture
def place(sandbox: Sandbox) -> Iterator[Place]:
    with sandbox.api() as api:
        here = Place(sandbox, api)
        yield here
        api.delete(f"/api/v1/namespaces/{here.name}")


def test_server_gets_its_environment_volumes_user_and_token(place: Place) -> None:
    place.api.create(
        f"{place.path}/secrets",
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"}, "stringData": {"password": "s3cret"}},
    )
    reference = {"secretKeyRef": {"name": "login", "key": "password"}}
    place.serve(
        "web",
        container={
            "env": [
                {"name": "PASSWORD", "valueFrom": reference},
                {"name": "WHERE", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                {"name": "GREETING", "value": "I am $(PASSWORD)"},
            ],
            "volumeMounts": [
                {"name": "login", "mountPath": "/login"},
                {"name": "scratch", "mountPath": "/tmp"},  # noqa: S108 - the pod's own
            ],
        },
        volumes=[{"name": "login", "secret": {"secretName": "login"}}, {"name": "scratch", "emptyDir": {}}],
    )
    seen = json.loads(place.ask("web", "env"))
    assert seen["GREETING"] == "I am s3cret"
    assert seen["WHERE"] == place.pod("web")["status"]["podIP"]
    assert seen["KUBERNETES_SERVICE_HOST"] == "10.96.0.1"
    assert place.ask("web", "") == "web"
    assert place.ask("web", "file/login/password") == "s3cret"
    account = "file/var/run/secrets/kubernetes.io/serviceaccount"
    assert place.ask("web", f"{account}/namespace") == place.name
    assert place.ask("web", f"{account}/token").count(".") == 2
    assert "BEGIN CERTIFICATE" in place.ask("web", f"{account}/ca.crt")
    assert place.ask("web", "write/tmp/x") == "1"
    assert not place.kubectl("get", "--raw", f"{place.path}/pods/http:web:8080/proxy/write/x").ok
    if os.geteuid() == 0:
        assert place.ask("web", "user") == "1234 0 [4321]"


def test_token_works_as_its_service_account_inside_the_pod(place: Place) -> None:
    code = """
import ssl, time, urllib.request, urllib.error
home = "/var/run/secrets/kubernetes.io/serviceaccount/"
context = ssl.create_default_context(cafile=home + "ca.crt")
request = urllib.request.Request("https://kubernetes.default.svc/api/v1/secrets")
request.add_header("Authorization", "Bearer " + open(home + "token").read())
try:
    urllib.request.urlopen(request, context=context, timeout=10)
except urllib.error.HTTPError as error:
    print(error.read().decode())
"""
    place.run("client", code, restartPolicy="Never")
    eventually(lambda: place.pod("client")["status"].get("phase") == "Succeeded")
    user = f"system:serviceaccount:{place.name}:default"
    assert f'User \\"{user}\\" cannot list resource' in place.kubectl("logs", "client").text


def test_mounted_config_map_follows_changes(place: Place) -> None:
    path = f"{place.path}/configmaps"
    place.api.create(
        path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf"}, "data": {"a": "old"}}
    )
    place.serve(
        "web",
        container={"volumeMounts": [{"name": "conf", "mountPath": "/conf"}]},
        volumes=[{"name": "conf", "configMap": {"name": "conf"}}],
    )
    assert place.ask("web", "file/conf/a") == "old"
    place.api.patch(f"{path}/conf", {"data": {"a": "new", "b": "more"}})
    eventually(lambda: place.ask("web", "file/conf/a") == "new")
    assert place.ask("web", "file/conf/b") == "more"


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


def test_logs_come_from_the_process_and_simulated_pods_say_they_have_none(place: Place) -> None:
    place.serve("web")
    assert place.kubectl("logs", "web").text.startswith("serving\n")
    assert place.kubectl("logs", "web", "--tail", "1").text.count("\n") <= 1
    place.run("pause", "", container={"image": "registry.k8s.io/pause:3.10", "command": ["/pause"]})
    place.until_ready("pause")
    assert "simulated" in place.kubectl("logs", "pause").text


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


def test_two_pods_with_the_same_port_reach_each_other_by_service_name(place: Place) -> None:
    place.serve("one")
    place.serve("two")
    place.expose("one")
    place.expose("two", port=8080)
    eventually(lambda: place.ask("one", "fetch/two:8080/") == "two")
    eventually(lambda: place.ask("two", f"fetch/one.{place.name}.svc.cluster.local/") == "one")
    address = place.pod("two")["status"]["podIP"]
    assert place.ask("one", f"fetch/{address}:8080/") == "two"
    assert place.ask("one", f"fetch/one.{place.name}/") == "one"


def test_service_is_reachable_from_the_api_server(place: Place) -> None:
    place.serve("web")
    place.expose("web")
    assert place.kubectl("get", "--raw", f"{place.path}/services/http:web:80/proxy/").text == "web"


def test_agent_that_is_killed_takes_its_processes_along_and_starts_them_again(
    new_sandbox: Callable[[], Sandbox],
) -> None:
    own = new_sandbox()
    nodes = [Node(name="n1", zone="a", capacity={"cpu": "4", "memory": "8Gi"})]
    own.up(nodes)
    with own.api() as api:
        here = Place(own, api)
        here.serve("web")
        process = here.process("web")
        agent = own.processes.running(NAME)
        assert agent is not None
        os.kill(agent.pid, signal.SIGKILL)
        eventually(lambda: not process.is_running())
        own.up(nodes)
        eventually(lambda: here.container("web").get("restartCount") == 1)
        here.until_ready("web")
        assert here.container("web")["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"


def test_program_that_vanished_is_an_image_error_and_one_that_was_never_there_is_simulated(
    tools: Path, tmp_path: Path
) -> None:
    image = next(name for name, each in PROCESS_IMAGES.items() if each.tool)
    program = f"{PROCESS_IMAGES[image].tool}"
    links = tmp_path / "tools"
    links.mkdir()
    for path in tools.iterdir():
        (links / path.name).symlink_to(path)
    own = Sandbox("own", tmp_path / "own", tools=links)
    nodes = [Node(name="n1", zone="a", capacity={"cpu": "4", "memory": "8Gi"})]
    container = {"image": f"{image}:1", "command": [PROCESS_IMAGES[image].path]}
    try:
        own.up(nodes)
        (links / program).unlink()
        with own.api() as api:
            here = Place(own, api)
            here.run("vanished", "", container=container)
            eventually(lambda: "waiting" in here.container("vanished").get("state", {}))
            eventually(lambda: here.container("vanished")["state"]["waiting"]["reason"] == "ErrImagePull")
            assert "flotilla toolchain build" in here.container("vanished")["state"]["waiting"]["message"]
            here.api.delete(f"{here.path}/pods/vanished")
            eventually(lambda: here.gone("vanished"))
        own.down(keep_data=True)
        own.up(nodes)
        with own.api() as api:
            here = Place(own, api)
            here.run("absent", "", container=container)
            eventually(lambda: here.condition("absent", SIMULATED) == "True")
            assert here.pod("absent")["status"]["phase"] == "Running"
            assert "simulated" in here.kubectl("logs", "absent").text
    finally:
        own.down()


ONLY_SIMULATED = """
import pathlib, sys
from sandbox.cluster import Sandbox
from sandbox.nodes import Node
folder, tools = map(pathlib.Path, sys.argv[1:])
Sandbox(folder.name, folder, tools=tools).up([Node(name="n1", zone="a", capacity={"cpu": "4", "memory": "8Gi"})])
"""


def test_machine_without_namespaces_simulates_every_pod_and_says_why(
    new_sandbox: Callable[[], Sandbox], tools: Path
) -> None:
    own = new_sandbox()
    up = [sys.executable, "-c", ONLY_SIMULATED, str(own.folder), str(tools)]
    forbidding = f"echo 0 > /proc/sys/user/max_net_namespaces && exec {shlex.join(up)}"
    subprocess.run(["unshare", "--map-root-user", "sh", "-c", forbidding], check=True, timeout=120)
    reason = own.status().only_simulated_because
    assert reason is not None
    assert "namespaces cannot be created" in reason
    with own.api() as api:
        here = Place(own, api)
        here.run("web", SERVER)
        eventually(lambda: here.condition("web", SIMULATED) == "True")
        assert here.pod("web")["status"]["phase"] == "Running"
        assert "simulated" in here.kubectl("logs", "web").text
        here.api.delete(f"{here.path}/pods/web")
        eventually(lambda: here.gone("web"))
