"""The Job that prepares a server runs the packaged script and sees each Secret where the script looks for it."""

from __future__ import annotations

from typing import Any

import pytest

from infra.components.data.bootstrap import SCRIPTS, Bootstrap, BootstrapArgs, environment, plan
from infra.core.database import Credentials, Server, User
from infra.core.script_files import script_files
from infra.settings.models.data.common import Tls
from tests.unit.components.databases import EXTERNAL, consumers, declared, operated
from tests.unit.core.parsing import parse
from tests.unit.core.recording import Recording, record

ADMIN = {"secret": "rds-admin", "namespace": "flotilla-data", "usernameKey": "user", "passwordKey": "pass"}
PREPARED = {**EXTERNAL, "hosts": ["w.example.com", "r.example.com"], "admin": ADMIN}


def user(consumer: str = "cache", server: str = "db", **more: Any) -> User:
    credentials = Credentials(secret=f"user-{consumer}", username_key="username", password_key="password")
    return User(consumer=consumer, server=server, schema=f"{consumer}db", credentials=credentials, **more)


def server(**values: Any) -> Server:
    return declared({"db": {**PREPARED, **values}})[1]["db"]


def job(of: Server, *users: User) -> Recording:
    args = BootstrapArgs(server=of, users=users or (user(),), namespace="flotilla-data")
    return record(lambda: Bootstrap(of.name, args))


def pod(recording: Recording) -> dict[str, Any]:
    return recording.one("Job")["spec"]["template"]["spec"]


def mounts(recording: Recording) -> dict[str, dict[str, Any]]:
    """Return the source of what is mounted, by path."""
    spec = pod(recording)
    sources = {volume["name"]: volume for volume in spec["volumes"]}
    return {mount["mountPath"]: sources[mount["name"]] for mount in spec["containers"][0]["volumeMounts"]}


@pytest.mark.parametrize("engine", ["mysql", "postgresql"])
def test_job_runs_the_engines_own_script(engine: Any) -> None:
    recording = job(server(engine=engine))
    (container,) = pod(recording)["containers"]

    assert recording.one("ConfigMap")["data"].keys() == {f"{engine}.sh", "common.sh", "consumers.sh", "consumers"}
    assert container["command"] == ["/bin/sh", f"/etc/job/{engine}.sh"]
    assert container["image"].startswith(
        {"mysql": "docker.io/library/mysql:", "postgresql": "docker.io/library/postgres:"}[engine]
    )


@pytest.mark.parametrize("engine", ["mysql", "postgresql"])
def test_script_explains_every_variable_it_is_given(engine: Any) -> None:
    tls = {"mode": "verify-full", "ca": {"name": "ca"}, "clientCertificate": "client"}
    given = environment(server(engine=engine, tls=tls))

    lines = "\n".join(script_files(SCRIPTS / f"{engine}.sh").values()).splitlines()
    explained = "\n".join(line for line in lines if line.startswith("#"))
    assert [name for name in given if name not in explained] == []


def test_pod_is_restricted_and_reaches_no_api_server() -> None:
    spec = pod(job(server()))
    (container,) = spec["containers"]

    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["runAsUser"] == 999


def test_every_secret_is_mounted_where_the_script_looks() -> None:
    found = mounts(job(server(), user("cache"), user("katib")))
    given = environment(server())

    assert found["/run/flotilla/admin"]["secret"]["secretName"] == "rds-admin"
    assert given["ADMIN_USER_FILE"] == "/run/flotilla/admin/user"
    assert given["ADMIN_PASSWORD_FILE"] == "/run/flotilla/admin/pass"
    for consumer in ("cache", "katib"):
        assert found[f"{given['CREDENTIALS']}/{consumer}"]["secret"]["secretName"] == f"user-{consumer}"


def test_no_secret_is_an_argument_or_a_variable() -> None:
    (container,) = pod(job(server()))["containers"]

    assert "args" not in container
    assert not [variable for variable in container["env"] if "valueFrom" in variable]


def test_users_of_other_servers_are_left_to_these() -> None:
    recording = job(server(), user("cache"), user("katib", server="other"))

    assert "katib" not in recording.one("ConfigMap")["data"]["consumers"]
    assert not [path for path in mounts(recording) if "katib" in path]


@pytest.mark.parametrize("kind", ["secret", "configMap"])
def test_authority_and_certificate_are_mounted(kind: str) -> None:
    tls = {"mode": "verify-full", "ca": {"kind": kind, "name": "ca", "key": "pem"}, "clientCertificate": "client"}
    given, found = environment(server(tls=tls)), mounts(job(server(tls=tls)))

    assert (given["TLS_CA"], given["TLS_MODE"]) == ("/run/flotilla/ca/pem", "verify-full")
    assert found["/run/flotilla/ca"][kind]["secretName" if kind == "secret" else "name"] == "ca"
    assert given["TLS_KEY"] == "/run/flotilla/certificate/tls.key"
    assert found["/run/flotilla/certificate"]["secret"]["secretName"] == "client"


def test_plan_names_for_each_consumer_what_its_user_needs() -> None:
    users = [user("cache"), user("metadata", plugin="mysql_native_password", keyless=True)]
    lines = plan(server(pool={"maxOpen": 70}), users).splitlines()

    assert lines[1:] == [
        "cache cachedb default 70 keyed username password",
        "metadata metadatadb mysql_native_password 70 keyless username password",
    ]


def test_writers_and_readers_are_tried_in_order() -> None:
    assert environment(server())["DATABASE_HOSTS"] == "w.example.com r.example.com"


def test_new_clusters_get_time_to_start_within_the_jobs_deadline() -> None:
    _, servers = declared({"db": operated("moco")}, consumers("db", "db"))
    deadline = job(servers["db"]).one("Job")["spec"]["activeDeadlineSeconds"]

    assert int(environment(servers["db"])["WAIT_SECONDS"]) > int(environment(server())["WAIT_SECONDS"])
    assert int(environment(servers["db"])["WAIT_SECONDS"]) < deadline


def test_administrator_known_by_name_needs_no_file_for_it() -> None:
    _, servers = declared({"db": operated("moco")}, consumers("db", "db"))
    given = environment(servers["db"])

    assert given["ADMIN_USER"] == "moco-writable"
    assert "ADMIN_USER_FILE" not in given


def test_server_without_an_administrator_is_refused() -> None:
    nobody = Server(
        name="db",
        engine="mysql",
        hosts=("db",),
        port=3306,
        tls=parse(Tls, mode="disable"),
        pool=server().pool,
        admin=None,
        starting_seconds=1,
    )

    with pytest.raises(ValueError, match="no administrator"):
        environment(nobody)
