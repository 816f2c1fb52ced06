"""A namespace of the sandbox for tests of process pods, and what they do there."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import psutil

from sandbox.agent.images import PYTHON
from sandbox.agent.pod_folder import PodFolder
from sandbox.agent_process import tools_folder
from tests.e2e.objects import eventually, namespace

if TYPE_CHECKING:
    from sandbox.api import ApiClient, Json
    from sandbox.cluster import Sandbox

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
