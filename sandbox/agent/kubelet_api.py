"""Answers for all kubelets: serves container logs over HTTPS at a Unix socket that the egress proxy leads to."""

from __future__ import annotations

import socketserver
import ssl
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sandbox.agent.pod_folder import PodFolder

_CHUNK = 1 << 16
_FOLLOW_SECONDS = 0.2

SIMULATED_MESSAGE = "this pod is simulated: no logs\n"


class KubeletApi(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """The server; only the owner of its socket's folder can connect.

    Args:
        path: its socket.
        certificate: its certificate, issued by the cluster's authority.
        key: the certificate's key.
        pods: folder of the pods' folders.
        is_running: tells whether a container's process runs, by namespace, pod and container.
    """

    daemon_threads = True

    def __init__(
        self,
        path: Path,
        *,
        certificate: Path,
        key: Path,
        pods: Path,
        is_running: Callable[[str, str, str], bool],
    ) -> None:
        path.unlink(missing_ok=True)
        self.pods = pods
        self.is_running = is_running
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificate, key)
        super().__init__(str(path), _Handler)
        path.chmod(0o600)

    def start(self) -> None:
        """Serve in a thread that ends with the program."""
        threading.Thread(target=self.serve_forever, name="kubelet API", daemon=True).start()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Speak TLS, in the connection's own thread."""
        try:
            with self._context.wrap_socket(request, server_side=True) as secure:
                super().finish_request(secure, client_address)
        except OSError:
            return


class _Handler(BaseHTTPRequestHandler):
    @property
    def _kubelet(self) -> KubeletApi:
        if not isinstance(self.server, KubeletApi):
            raise TypeError("this handler serves a KubeletApi only")
        return self.server

    def do_GET(self) -> None:
        """Answer `/containerLogs/NAMESPACE/POD/CONTAINER` and `/healthz`."""
        address = urlsplit(self.path)
        parts = address.path.strip("/").split("/")
        query = {key: values[-1] for key, values in parse_qs(address.query).items()}
        match parts:
            case ["containerLogs", namespace, pod, container]:
                self._logs(namespace, pod, container, query)
            case ["healthz"]:
                self._text(HTTPStatus.OK, "ok")
            case _:
                self._unsupported()

    def do_POST(self) -> None:
        """Refuse `kubectl exec`, `attach` and `port-forward`."""
        self._unsupported()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name for it
        """Keep quiet: the API server logs its requests."""

    def address_string(self) -> str:
        """Return nothing: connections of a Unix socket have no address."""
        return ""

    def _unsupported(self) -> None:
        self._text(HTTPStatus.NOT_IMPLEMENTED, "the sandbox's nodes serve logs only")

    def _text(self, status: HTTPStatus, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _logs(self, namespace: str, pod: str, container: str, query: dict[str, str]) -> None:
        folder = PodFolder.of(self._kubelet.pods, namespace, pod)
        log = folder.log(container, previous=query.get("previous") == "true")
        if not log.is_file():
            if folder.path.is_dir():
                self._text(HTTPStatus.NOT_FOUND, f"container {container} has no such log yet")
            else:
                self._text(HTTPStatus.OK, SIMULATED_MESSAGE)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        limit = int(query["limitBytes"]) if "limitBytes" in query else None
        with log.open("rb") as file:
            if "tailLines" in query:
                file.seek(tail_offset(log, int(query["tailLines"])))
            self._copy(file, limit)
            while query.get("follow") == "true" and self._kubelet.is_running(namespace, pod, container):
                time.sleep(_FOLLOW_SECONDS)
                self._copy(file, limit)

    def _copy(self, file: Any, limit: int | None) -> None:
        while data := file.read(_CHUNK if limit is None else min(_CHUNK, limit - file.tell())):
            self.wfile.write(data)
        self.wfile.flush()


def tail_offset(log: Path, lines: int) -> int:
    """Return where the last lines of a file begin."""
    if lines <= 0:
        return log.stat().st_size
    with log.open("rb") as file:
        position = file.seek(0, 2)
        found, data = 0, b""
        while position > 0 and found <= lines:
            step = min(_CHUNK, position)
            position -= step
            file.seek(position)
            data = file.read(step) + data
            found = data.rstrip(b"\n").count(b"\n") + 1
    kept = data.splitlines(keepends=True)[-lines:]
    return log.stat().st_size - sum(len(line) for line in kept)
