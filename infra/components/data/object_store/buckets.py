"""The Job that makes buckets and sets how long they keep objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi

from infra import versions
from infra.components.data.object_store.access import access, platform_identity
from infra.core.component import Component
from infra.core.job import FILES_PATH, SCRATCH_PATH, Job, JobArgs
from infra.core.parts import Container, Volume
from infra.core.script_files import script_files
from infra.settings.models.data.object_store import S3Store
from infra.settings.models.resources import Resources

if TYPE_CHECKING:
    from infra.settings.models.data.object_store import ManagedStore, ObjectStore

NAME = "buckets"
PART_OF = "data"
SCRIPT, PLAN = "buckets.sh", "buckets"
SCRIPTS = Path(__file__).parents[1] / "scripts"
KEYS, AUTHORITY = "/run/flotilla/keys", "/run/flotilla/ca"
WAIT_SECONDS = 600
"""How long a store that starts with the platform may take until it first answers."""

RESOURCES = Resources.model_validate(
    {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}, by_alias=True
)


@dataclass(frozen=True, kw_only=True)
class BucketsArgs:
    """What the Job is declared from.

    Args:
        store: the object store.
        namespace: where it runs: that of the platform's key.
        after: what it must wait for.
    """

    store: ObjectStore
    namespace: pulumi.Input[str]
    after: Sequence[pulumi.Resource] = ()


class Buckets(Component):
    """Owns the Job; owns neither the store nor what is in it, and deletes nothing.

    Attributes:
        done: what has to wait until the buckets are there.
    """

    group = "data"

    def __init__(self, name: str, args: BucketsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        identity = platform_identity(args.store)
        job = Job(
            NAME,
            JobArgs(
                namespace=args.namespace,
                part_of=PART_OF,
                container=Container(
                    image=versions.AWS_CLI,
                    probes=None,
                    command=("/bin/sh", f"{FILES_PATH}/{SCRIPT}"),
                    environment=environment(args.store),
                    volumes=_volumes(args.store),
                    user=65532,
                ),
                resources=RESOURCES,
                files=script_files(SCRIPTS / SCRIPT) | {PLAN: plan(args.store)},
                account_annotations=identity.annotations,
            ),
            opts=self.child(depends_on=[*args.after]),
        )
        self.done: list[pulumi.Resource] = job.done
        self.register_outputs({})


def plan(store: ManagedStore | ObjectStore) -> str:
    """Return a line for each bucket: its name, and how many days it keeps objects."""
    buckets = store.buckets
    each = (buckets.pipelines, buckets.checkpoints, buckets.logs, buckets.backups)
    return "".join(f"{bucket.name} {bucket.expire_days or 'keep'}\n" for bucket in each)


def environment(store: ObjectStore) -> dict[str, str]:
    """Return the script's environment; the script explains each variable."""
    here = access(store)
    amazon = isinstance(store, S3Store)
    endpoint = {} if amazon and store.endpoint is None else {"AWS_ENDPOINT_URL": here.url}
    authority = {"AWS_CA_BUNDLE": f"{AUTHORITY}/{here.ca.key}"} if here.ca else {}
    keys = here.keys
    files = (
        {"ACCESS_KEY_FILE": f"{KEYS}/{keys.access_key}", "SECRET_KEY_FILE": f"{KEYS}/{keys.secret_key}"} if keys else {}
    )
    return {
        "AWS_REGION": here.region,
        **endpoint,
        **authority,
        **files,
        "BUCKETS_FILE": f"{FILES_PATH}/{PLAN}",
        "AMAZON": "yes" if amazon else "no",
        "WAIT_SECONDS": str(WAIT_SECONDS),
        "TMPDIR": SCRATCH_PATH,
    }


def _volumes(store: ObjectStore) -> list[Volume]:
    here = access(store)
    found: list[Volume] = []
    if here.keys:
        found.append(Volume(name="keys", path=KEYS, secret=here.keys.secret))
    if here.ca:
        secret, config_map = (here.ca.name, None) if here.ca.kind == "secret" else (None, here.ca.name)
        found.append(Volume(name="ca", path=AUTHORITY, secret=secret, config_map=config_map))
    return found
