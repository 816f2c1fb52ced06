"""PostgreSQL's client, which its server's archive lacks: this machine's, else Debian's package."""

from __future__ import annotations

from pathlib import Path

from tests.servers.archives import unpack_debian
from tests.servers.install import Files, Program, write_program

_SYSTEM = "/usr/lib/postgresql"


def _unpack(files: Files, folder: Path) -> None:
    for file in files.values():
        unpack_debian(file, folder)
    (program,) = (folder / "usr/lib/postgresql").glob("*/bin/psql")
    libraries = next((folder / "usr/lib").glob("*-linux-gnu"))
    write_program(
        folder / "bin" / "psql",
        'here=$(dirname "$(readlink -f "$0")")/..\n'
        f'LD_LIBRARY_PATH="$here/{libraries.relative_to(folder)}" exec "$here/{program.relative_to(folder)}" "$@"',
    )


PROGRAM = Program(name="psql", unpack=_unpack)


def on_this_machine() -> Path | None:
    """Return this machine's client. Debian's wrapper on PATH, which needs its settings in `/etc`, does not count."""
    own = sorted(Path(_SYSTEM).glob("*/bin/psql"))
    return own[-1] if own else None


def find() -> Path:
    """Return the client.

    Raises:
        UnavailableError: it cannot be had on this machine.
    """
    return on_this_machine() or PROGRAM.ensure() / "bin" / "psql"
