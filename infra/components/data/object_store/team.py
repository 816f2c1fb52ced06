"""What a team's pods read of the object store, in the team's namespace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s

from infra.components.data.object_store.access import OWN_KEYS
from infra.components.data.object_store.reads import ARTIFACTS, DEFAULT_ARTIFACTS, team
from infra.core import names
from infra.core.component import Component

if TYPE_CHECKING:
    from infra.settings.models.data.object_store import ObjectStore

PART_OF = "data"
DEFAULT_REPOSITORY = "workflows.argoproj.io/default-artifact-repository"


@dataclass(frozen=True, kw_only=True)
class TeamObjectsArgs:
    """What a team's part of the object store is declared from.

    Args:
        store: the object store.
        team: the team's name.
        namespace: its namespace.
        key: its secret access key, where we make keys; None where its Secret exists or its pods have an identity.
    """

    store: ObjectStore
    team: str
    namespace: pulumi.Input[str]
    key: pulumi.Output[str] | None = None


class TeamObjects(Component):
    """Owns the ConfigMaps of pipelines' launcher, Argo and training jobs, and the team's key where we made it."""

    group = "data"

    def __init__(self, name: str, args: TeamObjectsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        labels = names.labels(args.team, part_of=PART_OF) | {names.TEAM: args.team}
        for config, data in team(args.store, args.team).items():
            annotations = {DEFAULT_REPOSITORY: DEFAULT_ARTIFACTS} if config == ARTIFACTS else None
            k8s.core.v1.ConfigMap(
                f"{args.team}-{config}",
                metadata=k8s.meta.v1.ObjectMetaArgs(
                    name=config, namespace=args.namespace, labels=labels, annotations=annotations
                ),
                data=data,
                opts=self.child(),
            )
        if args.key is not None:
            k8s.core.v1.Secret(
                f"{args.team}-{OWN_KEYS.team_secret}",
                metadata=k8s.meta.v1.ObjectMetaArgs(name=OWN_KEYS.team_secret, namespace=args.namespace, labels=labels),
                string_data={
                    OWN_KEYS.access_key: pulumi.Output.secret(args.team),
                    OWN_KEYS.secret_key: args.key,
                },
                opts=self.child(),
            )
        self.register_outputs({})
