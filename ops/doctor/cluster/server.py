"""Whether the API server answers, which version it has, and what time."""

from __future__ import annotations

import re

from ops.doctor.check import Verdicts, check, fail, ok, skip, warn
from ops.doctor.cluster.probe import ClusterProbe
from ops.doctor.network import clock as clocks

OLDEST, NEWEST = (1, 31), (1, 36)


@check(
    "cluster-api",
    "cluster",
    why="Everything is applied through it.",
    run="kubectl --context <context> get --raw /readyz?verbose.",
)
def api(probe: ClusterProbe) -> Verdicts:
    """Whether the API server of the stack's context answers and accepts the credentials."""
    user = probe.api.post(
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
    )
    name = user.get("status", {}).get("userInfo", {}).get("username", "somebody")
    yield ok(f"{probe.api.server} answers {name}")


@check("cluster-clock", "cluster", why=clocks.WHY, run=clocks.RUN, needs=("cluster-api",))
def clock(probe: ClusterProbe) -> Verdicts:
    """How far the API server's clock is from this machine's."""
    asked = clocks.now()
    date = probe.api.head_date("/version")
    yield clocks.http_skew(date, asked, clocks.now()) or skip("the API server tells no time")


@check(
    "cluster-version",
    "cluster",
    why="Older API servers ignore fields that Flotilla declares, in silence; newer ones have dropped APIs that "
    "Kubeflow's controllers still use.",
    run="Upgrade the control plane, one minor version at a time.",
    needs=("cluster-api",),
)
def version(probe: ClusterProbe) -> Verdicts:
    """The version of Kubernetes: 1.31 to 1.36."""
    found = probe.api.get("/version")
    numbers = re.findall(r"\d+", f"{found.get('major')}.{found.get('minor')}")
    major, minor = (int(number) for number in numbers[:2])
    name = f"Kubernetes {found.get('gitVersion')}"
    if (major, minor) < OLDEST:
        yield fail(f"{name} is too old: at least {OLDEST[0]}.{OLDEST[1]}", run="Upgrade the control plane")
    elif (major, minor) > NEWEST:
        yield warn(f"{name} is newer than what Flotilla is tested with", run=f"Use {NEWEST[0]}.{NEWEST[1]}")
    else:
        yield ok(name)
