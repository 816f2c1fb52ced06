"""The bootstrap scripts, run by `sh` with a client that only writes down what it is told."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.components.data.bootstrap import COLUMNS, SCRIPTS

PASSWORD = "p'w\"\\ #:%$`;"
MYSQL = ("pipelines mlpipeline default 50 keyed u p", "metadata metadb mysql_native_password 50 keyless u p")
POSTGRESQL = ("katib katib default 50 keyed u p", "modelRegistry model_registry default 7 keyed u p")
CLIENT = """\
#!/bin/sh
printf '== %s\\n' "$*" >>"$LOG"
for file in "$@"; do case $file in --defaults-file=*) cat "${file#*=}" >>"$LOG" ;; esac; done
[ -z "${PGPASSFILE:-}" ] || cat "$PGPASSFILE" >>"$LOG"
sql=$(cat)
printf '%s\\n' "$sql" >>"$LOG"
case $sql in
*"$FAILS"*) printf 'ERROR 1064: wrong near %s\\n' "$sql" >&2; exit 1 ;;
*@@global.read_only*) echo "$READ_ONLY" ;;
*"SELECT VERSION()"*) echo "$VERSION" ;;
*COUNT*) echo "$GROUPED" ;;
*PLUGIN_STATUS*) echo "$PLUGIN" ;;
*VARIABLE_VALUE*"'$ON'"*) echo ON ;;
*server_version*) echo "$VERSION" ;;
esac
"""


@dataclass(kw_only=True)
class Run:
    """What a run of a script wrote, and what its client was told."""

    status: int
    said: str
    log: str

    @property
    def changes(self) -> list[str]:
        """The statements that change something, in order."""
        return re.findall(r"^(?:CREATE|ALTER|GRANT|REVOKE|DROP)\b.*", self.log, re.M)


@dataclass(kw_only=True)
class Server:
    """How the client answers.

    Args:
        version: what the server calls itself.
        plugin: status of mysql_native_password.
        read_only: whether it takes no writes, as a digit.
        grouped: how many of its plugins replicate in a group.
        on: a variable that is switched on.
        fails: part of a statement that fails.
        users: each consumer's user and password; names and the usual password when it is empty.
    """

    version: str = "8.4.8"
    plugin: str = "ACTIVE"
    read_only: str = "0"
    grouped: str = "0"
    on: str = "none"
    fails: str = "(nothing)"
    users: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    def run(self, engine: str, *lines: str) -> Run:
        with TemporaryDirectory() as folder:
            return self._run(engine, lines, Path(folder))

    def _run(self, engine: str, lines: tuple[str, ...], folder: Path) -> Run:
        client = folder / "bin" / ("psql" if engine == "postgresql" else "mysql")
        client.parent.mkdir()
        client.write_text(CLIENT)
        client.chmod(0o755)
        for line in lines:
            consumer = line.split()[0]
            user, password = self.users.get(consumer, (f"u_{consumer}", PASSWORD))
            (folder / consumer).mkdir()
            (folder / consumer / "u").write_text(f"{user}\n", encoding="utf-8")
            (folder / consumer / "p").write_text(password, encoding="utf-8")
        (folder / "plan").write_text("\n".join((f"# {' '.join(COLUMNS)}", *lines, "")))
        (folder / "admin").write_text('admin\'s "secret"\n')
        (folder / "tmp").mkdir()
        (folder / "log").touch()
        environment = {
            "PATH": f"{client.parent}:/usr/bin:/bin",
            "TMPDIR": str(folder / "tmp"),
            "LOG": str(folder / "log"),
            "VERSION": self.version,
            "PLUGIN": self.plugin,
            "READ_ONLY": self.read_only,
            "GROUPED": self.grouped,
            "ON": self.on,
            "FAILS": self.fails,
            "DATABASE_HOSTS": "first second",
            "DATABASE_PORT": "6033",
            "TLS_MODE": "disable",
            "ADMIN_USER": "root",
            "ADMIN_PASSWORD_FILE": str(folder / "admin"),
            "CONSUMERS_FILE": str(folder / "plan"),
            "CREDENTIALS": str(folder),
            "WAIT_SECONDS": "0",
        }
        done = subprocess.run(
            ["sh", str(SCRIPTS / f"{engine}.sh")],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
            check=False,
        )
        assert list((folder / "tmp").iterdir()) == []
        return Run(status=done.returncode, said=done.stdout, log=(folder / "log").read_text(encoding="utf-8"))


def test_mysql_gets_database_user_and_rights_in_this_order() -> None:
    run = Server().run("mysql", MYSQL[0])

    assert run.status == 0, run.said
    assert [" ".join(change.split()[:2]) for change in run.changes] == [
        "CREATE DATABASE",
        "CREATE USER",
        "ALTER USER",
        "GRANT SELECT,",
    ]
    assert run.said.endswith(
        "bootstrap: pipelines: u_pipelines may use mlpipeline on first, and nothing else\nbootstrap: done\n"
    )


def test_metadata_alone_gets_the_old_plugin() -> None:
    log = Server().run("mysql", *MYSQL).log

    assert "CREATE USER IF NOT EXISTS 'u_metadata'@'%' IDENTIFIED WITH mysql_native_password BY" in log
    assert "CREATE USER IF NOT EXISTS 'u_pipelines'@'%' IDENTIFIED BY" in log


def test_mariadb_is_told_the_plugin_in_its_own_words() -> None:
    log = Server(version="11.4.5-MariaDB").run("mysql", MYSQL[1]).log

    assert "IDENTIFIED VIA mysql_native_password USING PASSWORD(" in log


def test_underscore_of_a_schema_stands_for_itself() -> None:
    assert "ON `model\\_registry`.* TO" in Server().run("mysql", "modelRegistry model_registry default 7 keyed u p").log


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (Server(plugin="DISABLED"), "metadata: knows no plugin but mysql_native_password, which MySQL 8.4.8 at first"),
        (Server(on="sql_require_primary_key"), "metadata: makes a table without a primary key, which first refuses"),
        (Server(grouped="1"), "metadata: makes a table without a primary key, which first refuses"),
        (Server(on="innodb_force_primary_key"), "which innodb_force_primary_key refuses; set it to OFF"),
        (Server(users={"metadata": ("root", "x")}), "metadata: its user is the administrator"),
        (Server(users={"metadata": ("u_pipelines", "x")}), "metadata: shares the user u_pipelines"),
        (Server(users={"metadata": ("a b", "x")}), "metadata: the user's name has other characters"),
        (Server(users={"metadata": ("u" * 33, "x")}), "metadata: the user's name has 33 characters"),
        (Server(users={"metadata": ("u", "")}), "metadata/p is empty"),
        (Server(read_only="1"), "no server took writes for 0 s; the last said: second: takes no writes"),
    ],
)
def test_mysql_is_left_alone_where_a_check_fails(server: Server, said: str) -> None:
    run = server.run("mysql", *MYSQL)

    assert run.status == 1
    assert said in run.said
    assert run.changes == []
    assert run.said.count("error:") == 1


def test_invisible_primary_keys_satisfy_a_server_that_wants_keys() -> None:
    assert Server(on="sql_generate_invisible_primary_key").run("mysql", *MYSQL).status == 0


@pytest.mark.parametrize(("engine", "lines"), [("mysql", MYSQL), ("postgresql", POSTGRESQL)])
def test_no_password_is_an_argument_or_is_said(engine: str, lines: tuple[str, ...]) -> None:
    for run in (Server().run(engine, *lines), Server(fails="GRANT").run(engine, *lines)):
        arguments = [line for line in run.log.splitlines() if line.startswith("== ")]

        assert arguments
        assert not [line for line in arguments if "p'w" in line or "secret" in line]
        assert "p'w" not in run.said
        assert "secret" not in run.said


@pytest.mark.parametrize(("engine", "lines"), [("mysql", MYSQL), ("postgresql", POSTGRESQL)])
def test_failing_statement_ends_the_run_with_one_line(engine: str, lines: tuple[str, ...]) -> None:
    run = Server(fails="GRANT").run(engine, *lines)

    assert run.status == 1
    assert run.said.splitlines()[-1].startswith("bootstrap: error: ")
    assert run.said.count("error:") == 1


def test_postgresql_gives_rights_before_it_takes_any() -> None:
    run = Server(version="18.4").run("postgresql", POSTGRESQL[0])

    assert run.status == 0, run.said
    assert [" ".join(change.split()[:3]) for change in run.changes][:4] == [
        'ALTER ROLE :"user"',
        "GRANT CONNECT, TEMPORARY",
        "REVOKE ALL ON",
        "GRANT USAGE, CREATE",
    ]
    assert "--set user=u_katib --set schema=katib --set limit=50" in run.log


@pytest.mark.parametrize("user", ["root", "a b", "u" * 64])
def test_postgresql_refuses_users_before_it_changes_anything(user: str) -> None:
    run = Server(users={"katib": (user, "x")}).run("postgresql", *POSTGRESQL)

    assert run.status == 1
    assert run.changes == []


PASSWORDS = st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=40)


@settings(max_examples=5, deadline=None)
@given(st.lists(PASSWORDS, min_size=4, max_size=4))
def test_any_password_reaches_mysql_as_it_is(passwords: list[str]) -> None:
    names = [f"c{number}" for number in range(len(passwords))]
    users = {name: (name, password) for name, password in zip(names, passwords, strict=True)}
    run = Server(users=users).run("mysql", *(f"{name} s_{name} default 1 keyed u p" for name in names))

    assert run.status == 0, run.said
    literals = re.findall(r"^CREATE USER .* IDENTIFIED BY '(.*)';$", run.log, re.M)
    options = re.findall(r'^user="c\d+"\npassword="(.*)"$', run.log, re.M)
    assert [re.sub(r"\\(.)", r"\1", text) for text in literals] == passwords
    assert [re.sub(r"\\(.)", r"\1", text) for text in options] == passwords


@settings(max_examples=5, deadline=None)
@given(st.lists(PASSWORDS, min_size=4, max_size=4))
def test_any_password_reaches_postgresql_as_it_is(passwords: list[str]) -> None:
    names = [f"c{number}" for number in range(len(passwords))]
    users = {name: (name, password) for name, password in zip(names, passwords, strict=True)}
    run = Server(users=users).run("postgresql", *(f"{name} s_{name} default 1 keyed u p" for name in names))

    assert run.status == 0, run.said
    kept = re.findall(r"^\*:\*:\*:\*:(.*)\nSELECT 1;$", run.log, re.M)
    assert [re.sub(r"\\(.)", r"\1", text) for text in kept] == passwords
