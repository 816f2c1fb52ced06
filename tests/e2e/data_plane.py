"""The environment `local` on real servers outside the sandbox, and running the data plane's Jobs there."""

from __future__ import annotations

import json
import subprocess
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import psutil
import yaml

from infra.paths import VALUES
from infra.settings import load
from infra.settings.models.data.databases import DATA_NAMESPACE
from ops.manifests import render
from sandbox.agent.pod_folder import PodFolder
from sandbox.agent_process import tools_folder
from tests.e2e.objects import eventually
from tests.servers.process import Login

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sandbox.api import Json
    from sandbox.cluster import Sandbox
    from tests.servers.certificates import Authority
    from tests.servers.kafka import Kafka
    from tests.servers.mariadb import MariaDb
    from tests.servers.postgresql import PostgreSql

DOMAIN = "servers.test"
"""Where process pods find the servers."""

MYSQL, POSTGRESQL = f"mariadb.{DOMAIN}", f"postgresql.{DOMAIN}"
AUTHORITY = "servers-ca"
ADMINS = {"mysql": "mysql-admin", "postgresql": "postgresql-admin", "kafka": "kafka-admin"}
"""Secret of each server's administrator."""

EXPORTER = "kafka-exporter"
"""Secret of the exporter's user."""

JOB_SECONDS = 240.0
_TLS: Json = {"mode": "verify-full", "ca": {"name": AUTHORITY, "namespace": DATA_NAMESPACE}}
_JOB_LABEL = "batch.kubernetes.io/job-name"


def _secret(name: str) -> Json:
    return {"secret": name, "namespace": DATA_NAMESPACE}


def databases() -> Json:
    """Return `data.databases` for the servers of the tests."""
    return {
        name: {"kind": "external", "engine": name, "hosts": [host], "tls": _TLS, "admin": _secret(ADMINS[name])}
        for name, host in (("mysql", MYSQL), ("postgresql", POSTGRESQL))
    }


def events(kafka: Kafka) -> Json:
    """Return `data.events` for a Kafka cluster of the tests that announces names."""
    return {
        "kind": "kafka",
        "bootstrapServers": [
            {"host": name, "port": port} for name, port in zip(kafka.names, kafka.pod_ports, strict=True)
        ],
        "tls": _TLS,
        "sasl": {"mechanism": kafka.mechanism, "credentials": _secret(EXPORTER)},
        "admin": {"credentials": _secret(ADMINS["kafka"])},
    }


def outside(mariadb: MariaDb, postgresql: PostgreSql) -> dict[str, int]:
    """Return what leads process pods to the database servers."""
    return {f"{MYSQL}:3306": mariadb.port, f"{POSTGRESQL}:5432": postgresql.port}


def objects(folder: Path, data: Json) -> list[Json]:
    """Return what the environment `local` declares when `data` is this.

    Args:
        folder: an empty folder for its values.
        data: sections of `data` that replace those of the environment.
    """
    folder.mkdir()
    for name in ("base", "local"):
        values = yaml.safe_load((VALUES / f"{name}.yaml").read_text())
        if name == "local":
            values["data"] |= data
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(values))
    return render(load("local", folder)).objects


class DataPlane:
    """A sandbox with the data plane's namespace, and what is run there.

    Args:
        sandbox: a running sandbox whose programs include the servers' clients.
        declared: everything the environment declares.
    """

    def __init__(self, sandbox: Sandbox, declared: list[Json]) -> None:
        self.sandbox = sandbox
        self._declared = declared
        self._kubectl = [
            *(str(tools_folder(sandbox.folder) / "kubectl"), "--kubeconfig", str(sandbox.kubeconfig)),
            *("--namespace", DATA_NAMESPACE),
        ]
        namespace = [each for each in declared if each["metadata"]["name"] == DATA_NAMESPACE]
        self.apply([*namespace, *(each for each in declared if each["kind"] == "PriorityClass")])
        path = f"/api/v1/namespaces/{DATA_NAMESPACE}/serviceaccounts/default"
        with sandbox.api() as api:
            eventually(lambda: api.find(path) is not None)

    def apply(self, wanted: list[Json]) -> None:
        """Create or change objects."""
        bundle = json.dumps({"apiVersion": "v1", "kind": "List", "items": wanted})
        done = self.kubectl("apply", "--filename", "-", stdin=bundle)
        assert done.returncode == 0, done.stderr

    def of(self, name: str) -> list[Json]:
        """Return the declared objects of that name in the data plane's namespace, or of none."""
        return [
            each
            for each in self._declared
            if each["metadata"]["name"] == name and each["metadata"].get("namespace", DATA_NAMESPACE) == DATA_NAMESPACE
        ]

    def put_secret(self, name: str, data: Mapping[str, str]) -> None:
        """Create a Secret, as an administrator or an operator would."""
        secret: Json = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": dict(data)}
        self.apply([secret])

    def put_login(self, name: str, login: Login) -> None:
        """Create a Secret with a user's name and password."""
        self.put_secret(name, {"username": login.user, "password": login.password})

    def put_authority(self, authority: Authority) -> None:
        """Create the Secret with the authority of the servers' certificates."""
        self.put_secret(AUTHORITY, {"ca.crt": authority.path.read_text()})

    def prepare_job(self, name: str) -> Json:
        """Create everything of a declared Job but the Job itself; return that."""
        found = self.of(name)
        self.apply([each for each in found if each["kind"] != "Job"])
        (job,) = (each for each in found if each["kind"] == "Job")
        return job

    def start(self, job: Json, name: str) -> None:
        """Run a declared Job once more, under a name of its own."""
        run = deepcopy(job)
        run["metadata"]["name"] = name
        self.apply([run])

    def run(self, job: Json, name: str) -> str:
        """Run a declared Job once more; return its log when it has succeeded."""
        self.start(job, name)
        return self.finish(name)

    def finish(self, name: str) -> str:
        """Wait until a Job has succeeded; return the log of its last pod."""
        eventually(lambda: self.is_job(name, "Complete") or self.is_job(name, "Failed"), JOB_SECONDS)
        log = self.log(name)
        assert self.is_job(name, "Complete"), log
        return log

    def is_job(self, name: str, condition: str) -> bool:
        """Return whether a Job is `Complete` or `Failed`."""
        with self.sandbox.api() as api:
            status = api.get(f"/apis/batch/v1/namespaces/{DATA_NAMESPACE}/jobs/{name}").get("status", {})
        return any(each["type"] == condition and each["status"] == "True" for each in status.get("conditions", []))

    def pods(self, name: str) -> list[Json]:
        """Return a Job's pods, the oldest first."""
        with self.sandbox.api() as api:
            found: list[Json] = api.get(
                f"/api/v1/namespaces/{DATA_NAMESPACE}/pods?labelSelector={_JOB_LABEL}%3D{name}"
            )["items"]
        return sorted(found, key=lambda pod: pod["metadata"]["creationTimestamp"])

    def log(self, name: str) -> str:
        """Return what the last pod of a Job has said."""
        pods = self.pods(name)
        return self.kubectl("logs", pods[-1]["metadata"]["name"]).stdout if pods else ""

    def process(self, pod: Json) -> psutil.Process | None:
        """Return the process of a pod's container, if it runs."""
        folder = PodFolder.of(self.sandbox.layout.pods, DATA_NAMESPACE, pod["metadata"]["name"])
        file = folder.pid(pod["spec"]["containers"][0]["name"])
        return psutil.Process(int(file.read_text())) if file.exists() else None

    def kubectl(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run kubectl as the administrator."""
        return subprocess.run(
            [*self._kubectl, *arguments], input=stdin, capture_output=True, text=True, timeout=60, check=False
        )


def mounted(job: Json, prefix: str) -> dict[str, str]:
    """Return the Secret behind each consumer's folder of credentials, by the consumer's name."""
    pod: Any = job["spec"]["template"]["spec"]
    volumes = {each["name"]: each["secret"]["secretName"] for each in pod["volumes"] if "secret" in each}
    return {
        mount["mountPath"].removeprefix(prefix): volumes[mount["name"]]
        for mount in pod["containers"][0]["volumeMounts"]
        if mount["mountPath"].startswith(prefix)
    }
