"""Copies bytes between two connections until both sides are done."""

from __future__ import annotations

import asyncio
from contextlib import suppress

_CHUNK = 1 << 16

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def relay(one: Stream, other: Stream) -> None:
    """Copy in both directions; the end of one direction is passed on, and both connections are closed at last."""
    try:
        await asyncio.gather(_copy(one[0], other[1]), _copy(other[0], one[1]))
    except OSError:
        pass
    finally:
        for _, writer in (one, other):
            await close(writer)


async def close(writer: asyncio.StreamWriter) -> None:
    """Close a connection, whatever state it is in."""
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
