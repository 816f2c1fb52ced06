"""`python -m sandbox.agent --folder FOLDER`: run the process pods of the sandbox in a folder."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from pathlib import Path

from infra.errors import FlotillaError
from sandbox.agent.agent import run


def main() -> None:
    """Run the agent; a failure to start is one line."""
    parser = argparse.ArgumentParser(prog="sandbox.agent", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="the sandbox's folder")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        asyncio.run(run(parser.parse_args().folder))
    except FlotillaError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
