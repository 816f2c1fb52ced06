"""What a MySQL server is set to: version, plugins, character set, modes, keys, connections, durability."""

from __future__ import annotations

from ops.doctor.check import Verdicts, check, fail, ok, skip, warn
from ops.doctor.mysql.probe import MySqlProbe

NATIVE = "mysql_native_password"
MYSQL_OLDEST, MYSQL_NEXT = (8, 0, 30), (9, 0, 0)
MARIADB_OLDEST, MARIADB_NEXT = (10, 6, 0), (12, 0, 0)

BREAKING_MODES = {
    "ANSI_QUOTES": "reads double-quoted texts as names",
    "PIPES_AS_CONCAT": "reads || as joining texts",
    "NO_BACKSLASH_ESCAPES": "takes escaped characters literally",
    "IGNORE_SPACE": "makes functions' names reserved words",
    "ORACLE": "speaks another dialect",
}
STRICT_MODES = frozenset({"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES"})


@check(
    "mysql-version",
    "mysql",
    why="Kubeflow's components are built and tested against MySQL 8.0 to 8.4; ML Metadata cannot log in to 9.0, "
    "which has no mysql_native_password.",
    run="Upgrade to MySQL 8.4, the long-term release, or MariaDB 11.4.",
    needs=("mysql-login",),
)
def version(probe: MySqlProbe) -> Verdicts:
    """The version: MySQL 8.0.30 up to 8.4, or MariaDB 10.6 up to 11."""
    product = "MariaDB" if probe.is_mariadb else "MySQL"
    oldest, following = (MARIADB_OLDEST, MARIADB_NEXT) if probe.is_mariadb else (MYSQL_OLDEST, MYSQL_NEXT)
    found = probe.version
    name = f"{product} {'.'.join(map(str, found))}"
    if found < oldest:
        yield fail(f"{name} is too old: at least {'.'.join(map(str, oldest))}", run=f"Upgrade {product}")
    elif found >= following:
        clients = probe.target.old_clients
        judge = fail if clients and not probe.is_mariadb else warn
        yield judge(
            f"{name} is newer than what Kubeflow is tested with"
            + (f", and {', '.join(clients)} cannot log in to it" if judge is fail else ""),
            run="Use MySQL 8.4, the long-term release" if not probe.is_mariadb else "Use MariaDB 11.4",
        )
    else:
        yield ok(name)


@check(
    "mysql-auth-plugin",
    "mysql",
    why="ML Metadata's client knows no caching_sha2_password: its user must be identified with mysql_native_password, "
    "which MySQL 8.4 has switched off.",
    run="Start the server with mysql_native_password=ON, and create ML Metadata's user with that plugin.",
    needs=("mysql-login",),
)
def auth_plugin(probe: MySqlProbe) -> Verdicts:
    """Whether the authentication plugin is active that consumers with old clients need."""
    clients = probe.target.old_clients
    if not clients:
        yield ok("no consumer here needs an old authentication plugin")
        return
    found = probe.query("SELECT plugin_status FROM information_schema.plugins WHERE plugin_name = %s", NATIVE)
    if found and found[0][0] == "ACTIVE":
        yield ok(f"{NATIVE} is active")
    else:
        yield fail(
            f"{NATIVE}, which {', '.join(clients)} needs, is {'switched off' if found else 'not installed'}",
            run=f"Set {NATIVE}=ON in my.cnf under [mysqld], or the parameter group, and restart the server",
        )


@check(
    "mysql-charset",
    "mysql",
    why="Names and parameters of runs may hold any character; with another character set they are refused or garbled, "
    "and tables made before the change keep it.",
    run="Set character_set_server=utf8mb4 and collation_server=utf8mb4_general_ci before databases are created.",
    needs=("mysql-login",),
)
def charset(probe: MySqlProbe) -> Verdicts:
    """The server's character set, which new databases take, and that of consumers' databases."""
    found = probe.variables["character_set_server"]
    advice = "Set character_set_server=utf8mb4, and restart the server or set it globally"
    if found == "utf8mb4":
        yield ok("character set utf8mb4")
    elif found in ("utf8", "utf8mb3"):
        yield warn(f"the character set is {found}, which has no characters beyond U+FFFF", run=advice)
    else:
        yield fail(f"the character set is {found}", run=advice)
    query = "SELECT default_character_set_name FROM information_schema.schemata WHERE schema_name = %s"
    for consumer in probe.target.consumers:
        schema = probe.query(query, consumer.database)
        if schema and not str(schema[0][0]).startswith("utf8"):
            yield fail(
                f"the database {consumer.database} has the character set {schema[0][0]}",
                run=probe.client(f"ALTER DATABASE `{consumer.database}` CHARACTER SET utf8mb4"),
                subject=f"data.consumers.{consumer.name}",
            )


@check(
    "mysql-sql-mode",
    "mysql",
    why="Components write MySQL's own dialect: a mode that changes it breaks their queries, and without a strict mode "
    "values that are too long are cut off in silence.",
    run="Set sql_mode to MySQL's default.",
    needs=("mysql-login",),
)
def sql_mode(probe: MySqlProbe) -> Verdicts:
    """SQL modes that change the dialect, and whether a strict one is set."""
    modes = {mode for mode in probe.variables["sql_mode"].upper().split(",") if mode}
    advice = "Set sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,NO_ENGINE_SUBSTITUTION"
    breaking = sorted(modes & BREAKING_MODES.keys())
    for mode in breaking:
        yield fail(f"the SQL mode {mode} {BREAKING_MODES[mode]}", run=advice)
    if not modes & STRICT_MODES:
        yield warn("no strict SQL mode is set: values that are too long are cut off", run=advice)
    elif not breaking:
        yield ok("SQL modes leave the dialect as it is")


@check(
    "mysql-primary-keys",
    "mysql",
    why="ML Metadata's table EventPath has no primary key; where one is demanded, its first start fails.",
    run="Set sql_generate_invisible_primary_key=ON (MySQL), pxc_strict_mode=PERMISSIVE (Percona XtraDB), or use a "
    "database that replicates asynchronously.",
    needs=("mysql-login",),
)
def primary_keys(probe: MySqlProbe) -> Verdicts:
    """Rules that demand a primary key of every table: by variable, by Galera, by Group Replication."""
    clients = ", ".join(probe.target.old_clients)
    if not clients:
        yield ok("no consumer here has tables without a primary key")
        return
    if probe.is_on("sql_generate_invisible_primary_key"):
        yield ok("tables without a primary key get an invisible one")
        return
    rule = _rule(probe)
    if rule is None:
        yield ok("tables need no primary key")
        return
    advice = "Set it OFF" if probe.is_mariadb else "Set sql_generate_invisible_primary_key=ON"
    if "pxc_strict_mode" in rule:
        advice = "Set pxc_strict_mode=PERMISSIVE"
    yield fail(f"{rule} demands a primary key of every table, and {clients} makes one without", run=advice)


def _rule(probe: MySqlProbe) -> str | None:
    """Return what demands primary keys, if anything does."""
    for variable in ("sql_require_primary_key", "innodb_force_primary_key"):
        if probe.is_on(variable):
            return f"{variable}=ON"
    strict = probe.variables.get("pxc_strict_mode", "DISABLED").upper()
    if probe.is_on("wsrep_on") and strict in ("ENFORCING", "MASTER"):
        return f"pxc_strict_mode={strict}"
    if probe.variables.get("group_replication_group_name"):
        return "Group Replication"
    return None


@check(
    "mysql-connections",
    "mysql",
    why="When all pools are full, which is when it matters, further connections are refused.",
    run="Raise max_connections, or lower the consumers' `pool.maxOpen`.",
    needs=("mysql-login",),
)
def connections(probe: MySqlProbe) -> Verdicts:
    """Whether max_connections holds all that the consumers' pools may open."""
    most, wanted = int(probe.variables["max_connections"]), probe.target.connections
    if not wanted:
        yield skip("the settings declare no pools")
    elif most < wanted:
        yield fail(
            f"max_connections is {most}, and consumers may open {wanted}",
            run=f"Set max_connections to {wanted + 20} or more, or lower `pool.maxOpen`",
        )
    else:
        yield ok(f"max_connections {most} holds the {wanted} of all consumers")


@check(
    "mysql-durability",
    "mysql",
    why="A commit that is not on disk is lost when the machine fails, and a failover then resurrects an older state.",
    run="Set innodb_flush_log_at_trx_commit=1 and sync_binlog=1.",
    needs=("mysql-login",),
)
def durability(probe: MySqlProbe) -> Verdicts:
    """Whether a commit is on disk, in the redo log and the binary log."""
    loose = [
        f"{variable}={value}"
        for variable in ("innodb_flush_log_at_trx_commit", "sync_binlog")
        if (value := probe.variables.get(variable, "1")) == "0"
        or (variable == "innodb_flush_log_at_trx_commit" and value != "1")
    ]
    if not probe.is_on("log_bin"):
        loose = [item for item in loose if not item.startswith("sync_binlog")]
    if loose:
        yield warn(
            f"commits may be lost with the machine ({', '.join(loose)})",
            run="Set innodb_flush_log_at_trx_commit=1 and sync_binlog=1",
        )
    else:
        yield ok("commits are on disk")
