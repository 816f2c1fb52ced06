"""Rewrites the golden files: `make golden`, or `python -m tests.golden.rewrite [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from infra.settings import environments
from tests.golden.golden import FOLDER, path_of, text


def rewrite(folder: Path = FOLDER) -> list[str]:
    """Write every environment's golden file, remove those of environments that are gone, and say what changed."""
    wanted = {path_of(environment, folder): text(environment) for environment in environments()}
    changes = [f"removed {path.name}" for path in sorted(folder.glob("*.yaml")) if path not in wanted]
    for path in folder.glob("*.yaml"):
        if path not in wanted:
            path.unlink()
    for path, content in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            path.write_text(content, encoding="utf-8")
            changes.append(f"wrote {path.name}")
    return changes


if __name__ == "__main__":
    sys.stdout.write("\n".join(rewrite(*map(Path, sys.argv[1:])) or ["nothing changed"]) + "\n")
