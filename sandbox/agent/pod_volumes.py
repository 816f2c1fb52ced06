"""One pod's volumes on disk: set up before its containers start, and kept in line with their sources after that."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sandbox.agent import atomic_folder
from sandbox.agent.api import Api, ApiError
from sandbox.agent.cluster_state import ClusterState
from sandbox.agent.pod_folder import PodFolder
from sandbox.agent.provisioner import claim_folder
from sandbox.agent.volumes import PROJECTED, Sources, VolumeError, files, references, volume_kind

Json = dict[str, Any]

_REFRESH_AT = 0.8
_SHORTEST_REFRESH_SECONDS = 30.0


class PodVolumes:
    """The volumes of one pod. Its methods block; call them in a thread.

    Claims are folders of the sandbox, shared by all pods that name them; a `hostPath` is a folder of the
    simulated node, never one of this machine. Kinds that need a driver are refused.
    """

    def __init__(self, pod: Json, folder: PodFolder, sandbox: Path, api: Api, cluster: ClusterState) -> None:
        self._pod = pod
        self._folder = folder
        self._sandbox = sandbox
        self._api = api
        self._cluster = cluster
        self._tokens: dict[tuple[str | None, int], tuple[float, str]] = {}
        self.sources = references(pod)
        self.paths: dict[str, Path] = {}

    def refresh(self, pod: Json) -> None:
        """Bring every volume in line with what it is declared to hold now.

        Raises:
            VolumeError: something it needs does not exist, or its kind is not supported.
        """
        self._pod = pod
        for volume in pod["spec"].get("volumes", []):
            self.paths[volume["name"]] = self._refresh(volume)

    def _refresh(self, volume: Json) -> Path:
        name, kind = volume["name"], volume_kind(volume)
        path = self._place(volume, kind)
        if not path.is_dir():
            path.mkdir(parents=True)
            path.chmod(0o755 if kind in PROJECTED else 0o777)
            if self._group is not None and kind == "emptyDir":
                os.chown(path, -1, self._group)
                path.chmod(0o2777)
        if kind in PROJECTED:
            try:
                content = files(self._pod, volume, self._sources())
            except (ApiError, VolumeError) as error:
                raise VolumeError(f'MountVolume.SetUp failed for volume "{name}": {error}') from error
            if self._group is not None:
                content = {key: replace(file, mode=file.mode | 0o440) for key, file in content.items()}
            atomic_folder.write(path, content, group=self._group)
        return path

    def _place(self, volume: Json, kind: str) -> Path:
        metadata = self._pod["metadata"]
        if kind in PROJECTED or kind == "emptyDir":
            return self._folder.volume(volume["name"])
        if kind in {"persistentVolumeClaim", "ephemeral"}:
            claim = volume[kind].get("claimName") or f"{metadata['name']}-{volume['name']}"
            return claim_folder(self._sandbox, metadata["namespace"], claim)
        if kind == "hostPath":
            parts = [part for part in Path(volume[kind]["path"]).parts if part not in {"/", ".."}]
            return self._sandbox.joinpath("nodes", self._pod["spec"]["nodeName"], *parts)
        raise VolumeError(f'volume "{volume["name"]}": the sandbox has no {kind} volumes for process pods')

    @property
    def _group(self) -> int | None:
        if os.geteuid() != 0:
            return None
        return self._pod["spec"].get("securityContext", {}).get("fsGroup")

    def _sources(self) -> Sources:
        namespace = self._pod["metadata"]["namespace"]
        return Sources(find=lambda kind, name: self._cluster.find(kind, namespace, name), token=self._token)

    def _token(self, audience: str | None, lifetime_seconds: int) -> str:
        due, token = self._tokens.get((audience, lifetime_seconds), (0.0, ""))
        if time.time() < due:
            return token
        metadata, account = self._pod["metadata"], self._pod["spec"].get("serviceAccountName", "default")
        owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        spec: Json = {
            "audiences": [audience] if audience else [],
            "expirationSeconds": lifetime_seconds,
            "boundObjectRef": owner,
        }
        path = f"/api/v1/namespaces/{metadata['namespace']}/serviceaccounts/{account}/token"
        try:
            answer = self._api.create(path, {"spec": spec})
        except ApiError:
            if token:
                return token
            raise
        status = answer["status"]
        now = time.time()
        lifetime = datetime.fromisoformat(status["expirationTimestamp"]).timestamp() - now
        due = now + max(lifetime * _REFRESH_AT, _SHORTEST_REFRESH_SECONDS)
        self._tokens[audience, lifetime_seconds] = (due, status["token"])
        return status["token"]
