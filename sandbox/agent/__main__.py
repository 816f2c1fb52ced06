"""`python -m sandbox.agent --folder FOLDER`: run the process pods of the sandbox in a folder."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from infra.errors import FlotillaError
from sandbox.agent.agent import run


def main() -> int:
    """Run the agent; a failure to start is one line."""
    parser = argparse.ArgumentParser(prog="sandbox.agent", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="the sandbox's folder")
    try:
        asyncio.run(run(parser.parse_args().folder))
    except FlotillaError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
