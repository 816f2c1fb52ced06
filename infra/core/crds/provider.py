"""The dynamic provider behind `CrdBundle`: the engine's verbs, and nothing else."""

from __future__ import annotations

import logging
import sys

from pulumi import dynamic

from infra.core.crds.properties import INPUTS, Properties
from infra.errors import FlotillaError


class CrdProvider(dynamic.ResourceProvider):
    """Creates, compares, reads, updates and deletes bundles of CRDs.

    Stacks keep a reference to this module and class, so their names are frozen; it has no state of its own.
    `check` and `diff`, all that a preview without refresh runs, reach no cluster.
    """

    serialize_as_secret_always: bool = False

    def configure(self, req: dynamic.ConfigureRequest) -> None:  # noqa: ARG002 - the engine's signature
        """Keep errors meant for users to the one line the engine shows, without gRPC's stack trace."""
        logging.getLogger("grpc._server").addFilter(_unexpected)

    def diff(self, _id: str, _olds: Properties, _news: Properties) -> dynamic.DiffResult:
        """Compare inputs by value. Nothing replaces a bundle: replacing a CRD would lose its objects."""
        return dynamic.DiffResult(changes=any(_olds.get(key) != _news.get(key) for key in INPUTS))

    def create(self, props: Properties) -> dynamic.CreateResult:
        """Apply every CRD."""
        return dynamic.CreateResult(props["bundle"], self.update(props["bundle"], {}, props).outs)

    def update(self, _id: str, _olds: Properties, _news: Properties) -> dynamic.UpdateResult:
        """Apply the CRDs that changed or drifted, remove those that left the bundle."""
        from infra.core.crds.apply import apply
        from infra.core.crds.cluster import Cluster
        from infra.core.crds.properties import applied_of

        with Cluster(_news["context"]) as cluster:
            outcome = apply(cluster, _news, applied_of(_olds))
        _tell(outcome.notes)
        return dynamic.UpdateResult({**_kept(_news), "applied": outcome.applied})

    def read(self, id_: str, props: Properties) -> dynamic.ReadResult:
        """Read the live CRDs; one that was edited or deleted shows as a changed or missing pin."""
        from infra.core.crds.cluster import Cluster
        from infra.core.crds.observe import observe

        with Cluster(props["context"]) as cluster:
            live = observe(cluster, props)
        if live is None:
            return dynamic.ReadResult("", {})
        kept = {**_kept(props), "crds": live.crds}
        return dynamic.ReadResult(id_, {**kept, "applied": live.applied}, kept)

    def delete(self, _id: str, _props: Properties) -> None:
        """Delete our CRDs, all or none; none while custom resources would be deleted with them."""
        from infra.core.crds.cluster import Cluster
        from infra.core.crds.properties import applied_of
        from infra.core.crds.remove import plan_removal, remove

        with Cluster(_props["context"]) as cluster:
            plan = plan_removal(cluster, _props, applied_of(_props))
            remove(cluster, plan)
        _tell(plan.notes)


def _kept(properties: Properties) -> Properties:
    return {key: properties[key] for key in INPUTS if key in properties}


def _tell(notes: list[str]) -> None:
    for note in notes:
        sys.stderr.write(f"{note}\n")


def _unexpected(record: logging.LogRecord) -> bool:
    """Tell bugs, whose stack trace helps, from errors whose one line says it all."""
    return not (record.exc_info and isinstance(record.exc_info[1], FlotillaError))
