"""The Job that makes buckets: its own script with the real command line, on a real S3 server."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from infra.components.data.object_store.buckets import SCRIPT, SCRIPTS, environment, plan
from infra.components.data.object_store.reads import TEAMS
from infra.settings.models.data.object_store import CompatibleStore
from tests.e2e.aws_cli import aws_folder
from tests.servers.process import new_password
from tests.unit.core.parsing import parse

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.fixtures import Servers
    from tests.servers.minio import MinIo

pytestmark = pytest.mark.e2e

BUCKETS: dict[str, Any] = {
    "pipelines": {"name": "artifacts"},
    "checkpoints": {"name": "checkpoints"},
    "logs": {"name": "logs", "expireDays": 90},
    "backups": {"name": "backups", "expireDays": 14},
}
Done = subprocess.CompletedProcess[str]


@pytest.fixture
def server(servers: Servers) -> MinIo:
    return servers.minio()


class Job:
    """The script with the variables that the declared Job gives it; its files lie in a folder instead of volumes."""

    def __init__(self, server: MinIo, folder: Path, **buckets: Any) -> None:
        values = {"kind": "s3-compatible", "endpoint": server.endpoint, "identity": {"kind": "keys"}}
        self.store = parse(CompatibleStore, **values, buckets=BUCKETS | buckets)
        self.folder = folder
        self.access, self.secret = folder / "accesskey", folder / "secretkey"
        self.access.write_text(server.admin.user)
        self.secret.write_text(server.admin.password)
        (folder / "plan").write_text(plan(self.store))

    def start(self, **more: str) -> subprocess.Popen[str]:
        variables = environment(self.store) | {
            "PATH": f"{aws_folder()}{os.pathsep}{os.defpath}",
            "TMPDIR": str(self.folder),
            "BUCKETS_FILE": str(self.folder / "plan"),
            "ACCESS_KEY_FILE": str(self.access),
            "SECRET_KEY_FILE": str(self.secret),
            **more,
        }
        return subprocess.Popen(
            ["sh", str(SCRIPTS / SCRIPT)],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, **more: str) -> Done:
        process = self.start(**more)
        output, errors = process.communicate(timeout=120)
        return Done(process.args, process.returncode, output, errors)


def days(server: MinIo, bucket: str) -> int | None:
    lifecycle = server.client().get_bucket_lifecycle(bucket)
    return lifecycle.rules[0].expiration.days if lifecycle and lifecycle.rules[0].expiration else None


def names(server: MinIo) -> set[str]:
    return {bucket.name for bucket in server.client().list_buckets()}


def test_buckets_are_made_once_and_follow_their_settings(server: MinIo, tmp_path: Path) -> None:
    first, again = Job(server, tmp_path).run(), Job(server, tmp_path).run()

    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert "artifacts is made" in first.stdout
    assert "artifacts is there" in again.stdout
    assert names(server) == {"artifacts", "checkpoints", "logs", "backups"}
    assert (days(server, "artifacts"), days(server, "logs"), days(server, "backups")) == (None, 90, 14)

    changed = Job(server, tmp_path, logs={"name": "logs"}, backups={"name": "backups", "expireDays": 30}).run()

    assert changed.returncode == 0, changed.stderr
    assert (days(server, "logs"), days(server, "backups")) == (None, 30)


def test_run_that_was_killed_half_way_is_finished_by_the_next(server: MinIo, tmp_path: Path) -> None:
    job = Job(server, tmp_path)
    process = job.start()
    assert process.stdout
    assert "artifacts is made" in process.stdout.readline()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert names(server) == {"artifacts"}

    done = job.run()

    assert done.returncode == 0, done.stderr
    assert names(server) == {"artifacts", "checkpoints", "logs", "backups"}
    assert days(server, "logs") == 90


def test_objects_and_buckets_of_others_stay(server: MinIo, tmp_path: Path) -> None:
    job = Job(server, tmp_path)
    job.run()
    server.create_bucket("somebody-elses")
    client = server.client()
    written = tmp_path / "model"
    written.write_text("weights")
    client.fput_object("artifacts", f"{TEAMS}/vision/model", str(written))

    assert job.run().returncode == 0
    assert "somebody-elses" in names(server)
    assert [item.object_name for item in client.list_objects("artifacts", recursive=True)] == [f"{TEAMS}/vision/model"]


@pytest.mark.parametrize(
    ("secret", "more", "message"),
    [
        (new_password(), {}, "artifacts refuses us"),
        ("", {}, "is empty"),
        (None, {}, "cannot be read: the Secret it comes from lacks the key"),
        (new_password(), {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "WAIT_SECONDS": "1"}, "does not answer"),
    ],
    ids=["wrong", "empty", "missing", "nobody answers"],
)
def test_failure_is_one_line_that_shows_no_key(
    server: MinIo, tmp_path: Path, secret: str | None, more: dict[str, str], message: str
) -> None:
    job = Job(server, tmp_path)
    if secret is None:
        job.secret.unlink()
    else:
        job.secret.write_text(secret)
    done = job.run(**more)

    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.startswith("buckets: error: ")
    assert message in line
    assert not secret or secret not in done.stdout + done.stderr
    assert names(server) == set()
