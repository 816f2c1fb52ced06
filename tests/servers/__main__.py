"""`python -m tests.servers`: set up what the real servers are made of."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ops.progress import ConsoleProgress
from tests.servers import clients, kafka_program, mariadb, minio, postgresql, psql, rabbitmq
from tests.servers.install import Compiled, Program
from tests.servers.registries import UnavailableError

PROGRAMS: Sequence[Program | Compiled] = (
    mariadb.PROGRAM,
    postgresql.PROGRAM,
    *(() if psql.on_this_machine() else (psql.PROGRAM,)),
    kafka_program.PROGRAM,
    rabbitmq.PROGRAM,
    clients.EXPORTER,
    minio.PROGRAM,
)


def main() -> int:
    """Set up every program; one that cannot be had is said and leaves its tests skipped."""
    parser = argparse.ArgumentParser(prog="tests.servers", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell what is there; exit with 1 if something is not")
    if parser.parse_args().check:
        return _check()
    missing = [program for program in PROGRAMS if not program.installed]
    progress = ConsoleProgress("setting up")
    for index, program in enumerate(missing, start=1):
        try:
            program.ensure(progress, index, len(missing))
        except UnavailableError as error:
            progress.note(f"tests that need {program.name} will be skipped: {error}")
    return 0


def _check() -> int:
    for program in PROGRAMS:
        state = program.folder if program.installed else "missing"
        sys.stdout.write(f"{program.name:12} {program.version:28} {state}\n")
    return 0 if all(program.installed for program in PROGRAMS) else 1


if __name__ == "__main__":
    sys.exit(main())
