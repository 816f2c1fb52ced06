from __future__ import annotations

import re
from importlib import metadata
from typing import TYPE_CHECKING

import pytest

from sandbox.tools import catalog
from sandbox.tools.versions import Version

if TYPE_CHECKING:
    from sandbox.tools.catalog import Module


def _name(module: Module) -> str:
    return module.name


@pytest.mark.parametrize("module", catalog.MODULES, ids=_name)
def test_module_is_locked(module: Module) -> None:
    sums = (module.folder / "go.sum").read_text()
    assert f"{module.origin} v" in sums


@pytest.mark.parametrize("module", catalog.MODULES, ids=_name)
def test_module_builds_from_its_own_source_or_declares_each_package_as_a_tool(module: Module) -> None:
    go_mod = (module.folder / "go.mod").read_text()
    for tool in module.tools:
        if tool.package == ".":
            assert (module.folder / "main.go").is_file()
        else:
            assert re.search(rf"^(tool )?\s*{re.escape(tool.package)}$", go_mod, re.MULTILINE)


def test_every_folder_is_in_the_catalog() -> None:
    folders = {path.name for path in catalog.MODULES_FOLDER.iterdir() if path.is_dir()}
    assert folders == {module.name for module in catalog.MODULES}


def test_engine_is_of_the_sdks_version() -> None:
    engine = next(module for module in catalog.MODULES if module.name == "pulumi")
    assert engine.version == Version.parse(metadata.version("pulumi"))


def test_kubernetes_libraries_are_all_of_one_release() -> None:
    kubernetes = next(module for module in catalog.MODULES if module.name == "kubernetes")
    replaced = re.findall(r"^\s*k8s\.io/\S+ => k8s\.io/\S+ (v\S+)", (kubernetes.folder / "go.mod").read_text(), re.M)
    assert set(replaced) == {f"v0.{kubernetes.version.minor}.{kubernetes.version.patch}"}
