"""A small bundle, its module zip and a cluster in memory, for the tests of CRD bundles."""

from __future__ import annotations

import copy
import io
import zipfile
from typing import Any

from infra.core.crds.gosum import hash1
from infra.core.crds.pins import CrdSource, Manifest, canonical, fingerprint
from infra.core.crds.properties import BUNDLE_LABEL, Properties, inputs
from infra.core.crds.sources import read_crds
from infra.errors import FlotillaError

MODULE, VERSION = "example.org/Boats", "v1.2.0"


def crd(plural: str, *, storage: str = "v1", versions: tuple[str, ...] = ("v1",), **spec: Any) -> Manifest:
    kind = plural.removesuffix("s").capitalize()
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.org", "annotations": {"made-by": "a generator"}},
        "spec": {
            "group": "example.org",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "scope": "Namespaced",
            "versions": [
                {"name": name, "served": True, "storage": name == storage, "schema": _schema(name)} for name in versions
            ],
            **spec,
        },
    }


def _schema(version: str) -> dict[str, Any]:
    return {"openAPIV3Schema": {"type": "object", "description": f"as of {version}"}}


def module_zip(*crds: Manifest, extra: dict[str, bytes] | None = None) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for manifest in crds:
            inner = f"crds/{manifest['metadata']['name']}.yaml"
            archive.writestr(f"{MODULE}@{VERSION}/{inner}", canonical(manifest))
        archive.writestr(f"{MODULE}@{VERSION}/crds/kustomization.yaml", "kind: Kustomization\n")
        for path, text in (extra or {}).items():
            archive.writestr(f"{MODULE}@{VERSION}/{path}", text)
    return content.getvalue()


def source_of_zip(content: bytes, paths: tuple[str, ...] = ("crds/*.yaml",)) -> CrdSource:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = read_crds(archive, paths, where="test")
        return CrdSource(
            module=MODULE,
            version=VERSION,
            h1=hash1(archive),
            paths=paths,
            crds={name: fingerprint(manifest) for name, manifest in found.items()},
        )


def bundle_inputs(source: CrdSource, **changed: Any) -> Properties:
    declared = inputs("boats", source, context="test", destroy_with_data=False, allow_storage_change=False)
    return {**declared, **changed}


class FakeCluster:
    """Keeps CRDs as an API server does: fills in defaults, counts generations, keeps stored versions."""

    def __init__(self) -> None:
        self.crds: dict[str, Manifest] = {}
        self.data: dict[str, list[str]] = {}
        self.calls: list[str] = []
        self.refuse: set[str] = set()
        self._uids = 0

    def revisions(self, bundle: str) -> dict[str, str]:
        self.calls.append("list")
        return {
            name: f"{live['metadata']['uid']}/{live['metadata']['generation']}"
            for name, live in self.crds.items()
            if live["metadata"].get("labels", {}).get(BUNDLE_LABEL) == bundle
        }

    def get(self, name: str) -> Manifest | None:
        self.calls.append(f"get {name}")
        return copy.deepcopy(self.crds.get(name))

    def apply(self, manifest: Manifest, *, dry_run: bool = False) -> Manifest:
        name = manifest["metadata"]["name"]
        self.calls.append(f"{'try' if dry_run else 'apply'} {name}")
        if name in self.refuse:
            raise FlotillaError("refused", where=name)
        before = self.crds.get(name)
        live = self._merged(before, manifest)
        if not dry_run:
            self.crds[name] = live
        return copy.deepcopy(live)

    def replace(self, manifest: Manifest) -> Manifest:
        name = manifest["metadata"]["name"]
        self.calls.append(f"replace {name}")
        live = copy.deepcopy(manifest)
        live["metadata"]["generation"] += 1
        _default(live["spec"])
        self.crds[name] = live
        return copy.deepcopy(live)

    def delete(self, name: str, uid: str) -> None:
        self.calls.append(f"delete {name}")
        assert self.crds[name]["metadata"]["uid"] == uid
        del self.crds[name]

    def objects(self, path: str) -> tuple[int, str | None]:
        found = self.data.get(path, [])
        return len(found), next(iter(found), None)

    def edit(self, name: str, **spec: Any) -> None:
        live = self.crds[name]
        live["spec"].update(spec)
        live["metadata"]["generation"] += 1

    def recreate(self, name: str) -> None:
        self._uids += 1
        self.crds[name]["metadata"].update(uid=f"uid-{self._uids}", generation=1)

    def _merged(self, before: Manifest | None, manifest: Manifest) -> Manifest:
        live: Manifest = copy.deepcopy(before or {"metadata": {}, "spec": {}})
        if before is None:
            self._uids += 1
            live["metadata"].update(uid=f"uid-{self._uids}", generation=0)
        wanted = copy.deepcopy(manifest)
        for part in ("labels", "annotations"):
            live["metadata"].setdefault(part, {}).update(wanted["metadata"].get(part, {}))
        live["metadata"]["name"] = wanted["metadata"]["name"]
        names = {**live["spec"].get("names", {}), **wanted["spec"]["names"]}
        spec = {**live["spec"], **wanted["spec"], "names": names}
        _default(spec)
        if before is None or spec != before["spec"]:
            live["metadata"]["generation"] += 1
        storage = next(version["name"] for version in spec["versions"] if version["storage"])
        stored = live.get("status", {}).get("storedVersions", [])
        return {
            **{key: wanted[key] for key in ("apiVersion", "kind")},
            "metadata": live["metadata"],
            "spec": spec,
            "status": {
                "conditions": [{"type": "Established", "status": "True"}],
                "storedVersions": [*stored, *([] if storage in stored else [storage])],
            },
        }


def _default(spec: dict[str, Any]) -> None:
    spec.setdefault("conversion", {"strategy": "None"})
