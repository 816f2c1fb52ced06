"""The consoles every command writes to: results to stdout, progress and messages to stderr."""

from __future__ import annotations

import sys

from rich import box
from rich.console import Console
from rich.table import Table

PLAIN_WIDTH = 140
"""Columns of tables that go to a file or pipe, where nobody can say how wide they may be."""

out = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else PLAIN_WIDTH)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def table(title: str, *columns: str) -> Table:
    """Return an empty table in the house style; cells wrap rather than lose their end."""
    empty = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        empty.add_column(column, overflow="fold")
    return empty
