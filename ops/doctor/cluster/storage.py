"""Which storage class claims get that name none."""

from __future__ import annotations

from ops.doctor.check import Verdicts, check, fail, ok, warn
from ops.doctor.cluster.probe import ClusterProbe

DEFAULT = "storageclass.kubernetes.io/is-default-class"


@check(
    "cluster-default-class",
    "cluster",
    why="A claim without a class stays pending where there is no default, and gets the newest where there are several.",
    run=f"Annotate exactly one class with {DEFAULT}=true.",
    needs=("cluster-api",),
)
def default_class(probe: ClusterProbe) -> Verdicts:
    """The default storage class: exactly one, and the one of the settings where they name one."""
    listed = probe.api.get("/apis/storage.k8s.io/v1/storageclasses")["items"]
    found = sorted(
        item["metadata"]["name"]
        for item in listed
        if (item["metadata"].get("annotations") or {}).get(DEFAULT) == "true"
    )
    wanted = probe.target.default_class
    others = [name for name in found if name != wanted]
    if wanted and others:
        yield fail(
            f"{', '.join(others)} is the default already, and Flotilla makes {wanted} one",
            run=f"Run kubectl annotate storageclass {others[0]} {DEFAULT}=false --overwrite",
        )
    elif wanted:
        yield ok(f"{wanted} is {'the default' if found else 'going to be the default'}")
    elif not found:
        yield fail("no storage class is the default", run=f"Run kubectl annotate storageclass <name> {DEFAULT}=true")
    elif len(found) > 1:
        yield warn(
            f"{', '.join(found)} are all the default",
            run=f"Run kubectl annotate storageclass {found[0]} {DEFAULT}=false --overwrite",
        )
    else:
        yield ok(f"{found[0]} is the default")
