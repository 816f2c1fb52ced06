"""For each rule about databases, values that break just that one, and what the user is told."""

from __future__ import annotations


def data(databases: str = "", consumers: str = "", store: str = "") -> str:
    """Return an overlay of databases, consumers and backups' bucket, each a flow map's inside."""
    parts = {"databases": databases, "consumers": consumers, "objectStore": store}
    return "data:" + "".join(f"\n  {key}: {{ {value} }}" for key, value in parts.items() if value)


def operated(operator: str = "moco", name: str = "own", **more: str) -> str:
    """Return an operated database in flow style."""
    entries = {
        "kind": "operator",
        "operator": operator,
        "storage": "{ size: 10Gi }",
        "resources": "{ requests: { cpu: 1, memory: 1Gi }, limits: { memory: 2Gi } }",
        "backup": "null",
        **more,
    }
    return f"{name}: {{ {', '.join(f'{key}: {value}' for key, value in entries.items())} }}"


def external(engine: str = "mysql", name: str = "other", **more: str) -> str:
    """Return an external database in flow style."""
    entries = {"kind": "external", "engine": engine, "hosts": "[db.example.com]", "tls": "{ mode: disable }", **more}
    return f"{name}: {{ {', '.join(f'{key}: {value}' for key, value in entries.items())} }}"


BACKUP = '{ schedule: "0 2 * * *", retentionDays: 14 }'
PATH = "data.databases.own"

VIOLATIONS = {
    "consumers use databases that exist": (
        data(consumers="katib: { database: postgresq }"),
        "data.consumers.katib.database: postgresq is not a database of data.databases."
        " Did you mean postgresql? Write one of mysql, postgresql, or declare it.",
    ),
    "consumers speak what their database speaks": (
        data(consumers="pipelines: { database: postgresql }"),
        "data.consumers.pipelines.database: postgresql is postgresql, and Pipelines speaks MySQL's dialect to every"
        " server, PostgreSQL included. Write mysql.",
    ),
    "cache and metadata share a database": (
        data(external(), "metadata: { database: other }"),
        "data.consumers.metadata.database: the cache uses mysql, and both read the address from dbHost of"
        " pipeline-install-config. Write mysql, or move the cache too.",
    ),
    "katib reaches mysql in the clear": (
        data(external(tls="{ mode: require }"), "katib: { database: other }"),
        "data.consumers.katib.database: Katib's MySQL client speaks no TLS, which other asks for."
        " Write a PostgreSQL database; there Katib speaks TLS.",
    ),
    "consumers keep apart": (
        data(consumers="cache: { schemaName: mlpipeline }"),
        "data.consumers.cache.schemaName: pipelines keeps its state in mlpipeline of mysql too. Write another name.",
    ),
    "database secrets are where they are mounted": (
        data(external(admin="{ secret: admin }")),
        "data.databases.other.admin: only flotilla-data is out of every component's reach, and the bootstrap"
        " Job runs there. Write flotilla-data.",
    ),
    "certificates are checked against something": (
        data(external(tls="{ mode: verify-full }")),
        "data.databases.other.tls.mode: verify-full has no authority to check the server's certificate against."
        " Add ca, or systemRoots: true for a public certificate.",
    ),
    "database instances have nodes of their own": (
        data(operated(instances="5")),
        f"{PATH}.instances: 5 instances would share at most 3 system nodes. Write 3 or less, or raise the pool's max.",
    ),
    "databases lie on disks": (
        data(operated(storage="{ size: 10Gi, storageClass: shared }")),
        f"{PATH}.storage.storageClass: shared has driver efs, whose volumes are no disks. Write gp3, or remove it.",
    ),
    "operators come from one side": (
        data(f"{operated(installed='present')}, {operated(name='two')}"),
        "data.databases.two: own has installed: present, and one moco serves both. Write present, or change own.",
    ),
    "backups go where operators can write": (
        data(operated("percona-xtradb", backup=BACKUP)),
        f"{PATH}.backup: percona-xtradb wants access keys, as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the"
        " object store's Secret. Set objectStore.identity.accessKey and secretKey to these, or use moco.",
    ),
    "backups are kept as long as they say": (
        data(operated(backup=BACKUP), store="buckets: { backups: { expireDays: 7 } }"),
        f"{PATH}.backup.retentionDays: the bucket for backups deletes after 7 days, so 14 are not kept."
        " Write 7 or less, or raise objectStore.buckets.backups.expireDays.",
    ),
}

FURTHER = [
    (
        data(consumers="modelCatalog: { database: mysql }"),
        "data.consumers.modelCatalog.database: mysql is mysql, and the model catalog speaks PostgreSQL only."
        " Write postgresql.",
    ),
    (
        data(operated(backup=BACKUP)),
        f"{PATH}.backup.retentionDays: MOCO deletes no backup, and the bucket for backups keeps everything."
        " Set objectStore.buckets.backups.expireDays to 14.",
    ),
    (
        data(operated(storage="{ size: 10Gi, storageClass: gp2 }")),
        f"{PATH}.storage.storageClass: gp2 is not a class of cluster.storage.classes. Did you mean gp3?",
    ),
    (
        data(operated(instances="4")),
        f"{PATH}.instances: 4 instances are not highly available: an even number loses a tie. Write 5.",
    ),
    (
        data(operated(instances="1")),
        f"{PATH}.instances: 1 instances are not highly available: fewer have no majority left after a loss. Write 3.",
    ),
    (
        data(
            consumers="pipelines: { credentials: { secret: one } }, cache: { credentials: { secret: one } }",
        ),
        "data.consumers.cache.credentials.secret: pipelines uses username of one too."
        " Make a Secret for each, or remove it: Flotilla then generates one.",
    ),
    (
        data(consumers="pipelines: { credentials: { secret: one, namespace: elsewhere } }"),
        "data.consumers.pipelines.credentials.namespace: pipelines runs in kubeflow and cannot mount a Secret of"
        " another namespace. Write kubeflow.",
    ),
    (
        data(external(tls="{ mode: require, ca: { name: ca } }")),
        "data.databases.other.tls.ca: require verifies nothing. Write mode: verify-full, or remove it.",
    ),
    (
        data(external(tls="{ mode: disable, systemRoots: true }")),
        "data.databases.other.tls.systemRoots: disable verifies nothing.",
    ),
    (
        data(external(tls="{ mode: verify-ca, ca: { name: ca }, systemRoots: true }")),
        "data.databases.other.tls.systemRoots: is given together with ca. Remove one of the two.",
    ),
    (
        data(external(tls="{ mode: disable, clientCertificate: mine }")),
        "data.databases.other.tls.clientCertificate: disable shows no certificate. Write mode: verify-full.",
    ),
    (
        data(external(engine="postgres")),
        "data.databases.other.engine: 'postgres' is not one of mysql, postgresql. Write postgresql.",
    ),
    (
        data(operated(backup='{ schedule: "@daily", retentionDays: 1 }')),
        f"{PATH}.backup.schedule: '@daily' is not a schedule."
        ' Write minute, hour, day, month and weekday, such as "0 2 * * *".',
    ),
    (
        data(operated(hosts="[db.example.com]")),
        f"{PATH}.hosts: unknown key with `kind: operator`.",
    ),
]
"""Overlays that are refused, and what is said, beyond one for each rule."""

VALID = [
    data(operated(), "pipelines: { database: own }"),
    data(operated(backup=BACKUP), store="buckets: { backups: { expireDays: 14 } }"),
    data(operated("cloudnative-pg", backup=BACKUP), "katib: { database: own }"),
    data(
        operated("percona-xtradb"),
        "pipelines: { database: own }, cache: { database: own }, metadata: { database: own }",
    ),
    data(external(), "katib: { database: other }, modelRegistry: { database: other }"),
    data(external(admin="{ secret: admin, namespace: flotilla-data }", tls="{ mode: verify-full, systemRoots: true }")),
    data(f"{operated()}, {operated(name='two')}"),
]
"""Overlays that are accepted."""
