"""Run by a program's own Python: prints, as JSON, that Python's version, packages and engine plugins."""

import json
import platform
import re
import sys
from importlib import metadata
from pathlib import Path


def packages() -> list[dict[str, object]]:
    """Return name and version of every installed package, and whether no other package asks for it."""
    installed = {_normal(each.metadata["Name"]): each for each in metadata.distributions()}
    asked_for = {
        _normal(name[0])
        for each in installed.values()
        for requirement in each.requires or ()
        if "extra ==" not in requirement and (name := re.match(r"[\w.-]+", requirement))
    }
    return [
        {"name": each.metadata["Name"], "version": each.version, "direct": name not in asked_for}
        for name, each in sorted(installed.items())
    ]


def plugins() -> list[dict[str, str]]:
    """Return the engine plugins that installed SDKs say they need."""
    found: dict[str, dict[str, str]] = {}
    for folder in map(Path, sys.path):
        for file in folder.glob("*/pulumi-plugin.json"):
            described = json.loads(file.read_text(encoding="utf-8"))
            if described.get("resource"):
                name = described.get("name") or file.parent.name.removeprefix("pulumi_").replace("_", "-")
                version = described.get("version") or _version_of(file.parent.name)
                found.setdefault(name, {"name": name, "version": version, "server": described.get("server", "")})
    return list(found.values())


def _version_of(module: str) -> str:
    try:
        return metadata.version(module.replace("_", "-"))
    except metadata.PackageNotFoundError:
        return ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    json.dump({"version": platform.python_version(), "packages": packages(), "plugins": plugins()}, sys.stdout)
