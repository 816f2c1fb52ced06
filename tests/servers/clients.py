"""Programs that stand for the images of Jobs and exporters which work on the servers."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.servers import kafka_program, mariadb, psql
from tests.servers.catalog import EVENT_EXPORTER
from tests.servers.install import Compiled
from tests.servers.registries import UnavailableError

EXPORTER = Compiled(module=EVENT_EXPORTER)


def with_clients(tools: Path, folder: Path) -> Path:
    """Fill an empty folder with the sandbox's programs and every client that a process pod may need; return it.

    Raises:
        UnavailableError: a client cannot be had on this machine.
    """
    curl = shutil.which("curl")
    if curl is None:
        raise UnavailableError("curl is not on PATH")
    clients = {
        "mariadb": mariadb.PROGRAM.ensure() / "bin" / "mariadb",
        "psql": psql.find(),
        "kafka-topics.sh": kafka_program.PROGRAM.ensure() / "bin" / "kafka-topics.sh",
        "curl": Path(curl),
        "event-exporter": EXPORTER.ensure() / "event-exporter",
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, program in ({path.name: path for path in tools.iterdir()} | clients).items():
        (folder / name).symlink_to(program.resolve())
    return folder
