"""Serve the language host: print the port, answer the engine, end quietly when told or when it is gone."""

from __future__ import annotations

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from pulumi.runtime.proto import language_pb2_grpc

from sandbox.language_host.children import Children
from sandbox.language_host.service import LanguageHost

_WORKERS = 64
_ENGINE_CHECK_SECONDS = 2
_OPTIONS = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))


def main() -> None:
    """Serve until SIGINT, SIGTERM or the end of the engine, which gives its address as the last argument."""
    engine = sys.argv[-1] if len(sys.argv) > 1 else ""
    running = Children()
    # The engine sends SIGINT to the whole process group. Threads and children started while it is blocked
    # inherit that, so programs are not interrupted into printing a traceback: the host ends them itself.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    server = grpc.server(ThreadPoolExecutor(max_workers=_WORKERS), options=_OPTIONS)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageHost(engine, running), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    _wait(stopped)
    running.end_all(closing=True)
    server.stop(grace=None).wait()


def _wait(stopped: threading.Event) -> None:
    parent = os.getppid()
    while not stopped.wait(_ENGINE_CHECK_SECONDS) and os.getppid() == parent:
        pass


if __name__ == "__main__":
    main()
