"""The doctor, on servers that replicate each other, and that stop doing so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ops.doctor.examine import Examination
from ops.doctor.mysql import REPLICA as MYSQL_REPLICA
from ops.doctor.mysql.probe import MySqlProbe
from ops.doctor.postgresql import REPLICA as POSTGRESQL_REPLICA
from ops.doctor.postgresql.probe import PostgresProbe
from ops.doctor.targets import Tls
from tests.e2e import test_doctor_mysql as mysql
from tests.e2e import test_doctor_postgresql as postgresql
from tests.e2e.doctor_cases import Seen, address, eventually, examined, login, seen
from tests.servers.fixtures import Servers

pytestmark = pytest.mark.e2e


def test_a_mysql_replica_is_named_when_it_stops_and_when_writes_are_sent_to_it(servers: Servers) -> None:
    primary = servers.mariadb(settings={"log-bin": "binlog"})
    replica = servers.mariadb(server_id=2, read_only=True)
    replica.replicate_from(primary)
    both = mysql.target(primary, hosts=(address(primary.port), address(replica.port)), tls=Tls(), consumers=())

    def replica_seen() -> Seen:
        own = replace(both, admin=login(replica.admin))
        return seen(examined(Examination(probe=MySqlProbe(own, address(replica.port), 5), checks=MYSQL_REPLICA)))

    eventually(lambda: replica_seen() == [])
    replica.execute("STOP SLAVE SQL_THREAD")
    assert replica_seen() == [("fail", "mysql-replication", "applying changes of 127.0.0.1 has stopped")]
    replica.execute("START SLAVE", "SET GLOBAL read_only = OFF")
    assert ("warn", "mysql-role", "is listed as a replica, and takes writes") in replica_seen()
    alone = mysql.target(replica, tls=Tls(), consumers=())
    assert ("fail", "mysql-replication", "is itself a replica of 127.0.0.1, and the settings send writes to it") in (
        mysql.looked(alone)
    )
    replica.execute("STOP SLAVE", "RESET SLAVE ALL")
    assert ("fail", "mysql-replication", "is listed as a replica, and replicates from nobody") in replica_seen()


def test_a_postgresql_standby_is_named_when_it_is_cut_off_and_when_writes_are_sent_to_it(servers: Servers) -> None:
    primary = servers.postgresql(settings=postgresql.DURABLE)
    standby = servers.standby(primary)
    both = postgresql.target(primary, hosts=(address(primary.port), address(standby.port)), consumers=())
    alone = postgresql.target(standby, consumers=())

    def standby_seen() -> Seen:
        return seen(
            examined(Examination(probe=PostgresProbe(both, address(standby.port), 5), checks=POSTGRESQL_REPLICA))
        )

    eventually(lambda: standby_seen() == [])
    assert postgresql.looked(both) == []
    assert postgresql.looked(alone) == [
        ("fail", "postgresql-role", "is a standby (in recovery), and the settings send writes to it")
    ]
    primary.kill()
    cut_off = ("fail", "postgresql-replication", "receives no changes: it is connected to no primary")
    eventually(lambda: cut_off in standby_seen())
    standby.execute("SELECT pg_promote()")
    assert ("fail", "postgresql-role", "is listed as a standby, and is a primary of its own") in standby_seen()
