"""Dependencies point one way: values, settings, core, components, kubeflow, __main__."""

from __future__ import annotations

import pytest

from tests.boundaries.sources import Source, sources

GROUND = 0
LAYERS = {
    "infra.errors": GROUND,
    "infra.node_labels": GROUND,
    "infra.paths": GROUND,
    "infra.settings": 1,
    "infra.core": 2,
    "infra.chart_sources": 3,
    "infra.crd_sources": 3,
    "infra.versions": 3,
    "infra.components": 4,
    "infra.kubeflow": 5,
    "infra.__main__": 6,
}
"""Every part of `infra`, by how high it stands; nothing imports from above itself."""

FORBIDDEN = {
    "infra": ("ops", "sandbox", "policies", "bench", "tests"),
    "policies": ("infra", "ops", "sandbox", "bench", "tests"),
    "sandbox": ("policies", "bench", "tests"),
    "ops": ("bench", "tests"),
}
"""Who must not know whom."""


def _layer(module: str) -> int | None:
    for part, layer in LAYERS.items():
        if module == part or module.startswith(f"{part}."):
            return layer
    return None


def _of(package: str) -> list[Source]:
    return [source for source in sources() if source.module.partition(".")[0] == package]


def _component(module: str) -> str | None:
    """Return the component a module belongs to: the file, or folder, below its group."""
    parts = module.split(".")
    return ".".join(parts[:4]) if parts[:2] == ["infra", "components"] and len(parts) >= 4 else None


def test_every_module_of_infra_has_a_layer() -> None:
    missing = [
        str(source.path) for source in _of("infra") if source.module != "infra" and _layer(source.module) is None
    ]

    assert missing == []


def test_infra_imports_only_from_its_own_layer_or_below() -> None:
    faults = [
        f"{source.path}:{line} imports {imported} from above"
        for source in _of("infra")
        for line, imported in source.imports()
        if (own := _layer(source.module)) is not None and (other := _layer(imported)) is not None and other > own
    ]

    assert faults == []


@pytest.mark.parametrize("package", FORBIDDEN)
def test_packages_know_only_those_below_them(package: str) -> None:
    faults = [
        f"{source.path}:{line} imports {imported}"
        for source in _of(package)
        for line, imported in source.imports()
        if imported.partition(".")[0] in FORBIDDEN[package]
    ]

    assert faults == []


def test_components_never_import_one_another() -> None:
    faults = [
        f"{source.path}:{line} imports {imported}; pass what it needs as an argument, in infra/kubeflow.py"
        for source in _of("infra")
        for line, imported in source.imports()
        if (own := _component(source.module)) and (other := _component(imported)) and own != other
    ]

    assert faults == []


def test_settings_import_nothing_of_pulumi() -> None:
    faults = [
        f"{source.path}:{line} imports {name}"
        for source in _of("infra")
        if source.module.startswith("infra.settings")
        for line, name in source.all_imports()
        if name.partition(".")[0].startswith("pulumi")
    ]

    assert faults == []
