"""Plans the file system a container sees: the host's programs read-only, the image's program, the pod's volumes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sandbox.agent.images import ProcessImage
from sandbox.agent.inside.rootfs import Entry
from sandbox.agent.pod_folder import PodFolder

Json = dict[str, Any]

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = (
    "/etc/alternatives",
    "/etc/ca-certificates",
    *(str(path) for path in Path("/etc").glob("java-*")),
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/passwd",
    "/etc/pki",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl",
)
_POD_FILES = "/etc/pod"
_FOLLOWING = ("hosts", "resolv.conf", "nsswitch.conf")
_SCRATCH = {"/tmp": 0o1777, "/var": 0o755, "/var/tmp": 0o1777, "/run": 0o755, "/home": 0o755}  # noqa: S108 - folders of the container
_TERMINATION_MESSAGE = "/dev/termination-log"


def plan(
    container: Json, image: ProcessImage, program: Path, folder: PodFolder, volumes: Mapping[str, Path]
) -> list[Entry]:
    """Return what to put into a container's file system, in order.

    Args:
        container: the container as declared.
        image: what its image is made of.
        program: the image's program on this machine.
        folder: the pod's folder; its file for the termination message must exist.
        volumes: the folder of each of the pod's volumes.
    """
    message = container.get("terminationMessagePath", _TERMINATION_MESSAGE)
    return [
        *_host_folders([*_SYSTEM, *image.folders()]),
        *(_bind(path, path) for path in _SETTINGS if Path(path).exists()),
        _bind(str(folder.etc), _POD_FILES),
        *(_link(f"/etc/{name}", f"pod/{name}") for name in _FOLLOWING),
        *(_folder(path, mode) for path, mode in _SCRATCH.items()),
        _program(image, program),
        *_mounts(container, volumes),
        _bind(str(folder.termination_message(container["name"])), message, read_only=False),
    ]


def _host_folders(paths: Iterable[str]) -> list[Entry]:
    entries: list[Entry] = []
    for text in paths:
        path = Path(text)
        if path.is_symlink():
            entries.append(_link(text, str(path.readlink())))
        elif path.is_dir() and not any(path.is_relative_to(entry["target"]) for entry in entries):
            entries.append(_bind(text, text))
    return entries


def _mounts(container: Json, volumes: Mapping[str, Path]) -> list[Entry]:
    mounts: list[Json] = sorted(container.get("volumeMounts", []), key=lambda mount: mount["mountPath"])
    return [
        _bind(
            str(_part(volumes[mount["name"]], mount.get("subPath", ""))),
            "/" + mount["mountPath"].strip("/"),
            read_only=mount.get("readOnly", False),
        )
        for mount in mounts
        if mount["name"] in volumes
    ]


def _part(volume: Path, sub_path: str) -> Path:
    if not sub_path:
        return volume
    part = volume / sub_path
    if not part.exists():
        part.mkdir(mode=0o777, parents=True)
    return part.resolve()


def _program(image: ProcessImage, program: Path) -> Entry:
    if image.tool is None:
        return _link(image.path, str(program))
    if image.whole:
        return _bind(str(program.parent.parent), str(Path(image.path).parent.parent))
    return _bind(str(program), image.path)


def _bind(source: str, target: str, *, read_only: bool = True) -> Entry:
    return Entry(kind="bind", source=source, target=target, mode=0, read_only=read_only)


def _link(target: str, source: str) -> Entry:
    return Entry(kind="link", source=source, target=target, mode=0, read_only=False)


def _folder(target: str, mode: int) -> Entry:
    return Entry(kind="folder", source="", target=target, mode=mode, read_only=False)
