"""Rules about what the platform's own workloads ask for and how they are reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.settings.models.resources import Autoscaling, Resources
from infra.settings.rules.rule import Violation, each, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.models.settings import Settings


@rule()
def requests_stay_within_limits(settings: Settings) -> Iterator[Violation]:
    """Refuse a request above its limit, as Kubernetes does."""
    for path, resources in each(Resources, settings):
        for key, request, limit in (
            ("cpu", resources.requests.cpu, resources.limits.cpu),
            ("memory", resources.requests.memory, resources.limits.memory),
        ):
            if limit is not None and request > limit:
                remedy = f"Write {limit} or less, or raise the limit"
                yield Violation((*path, "requests", key), f"{request} is more than the limit, {limit}", remedy)


@rule()
def autoscaling_has_room(settings: Settings) -> Iterator[Violation]:
    """Refuse a least number of replicas above the largest."""
    for path, scaling in each(Autoscaling, settings):
        if scaling.min > scaling.max:
            what = f"{scaling.max} is less than min, {scaling.min}"
            yield Violation((*path, "max"), what, f"Write {scaling.min} or more, or lower min")


@rule("cluster", "data", "mesh", "training")
def replicas_fit_a_system_node(settings: Settings) -> Iterator[Violation]:
    """Refuse a replica that no system node can hold: it would stay pending for ever."""
    machines = [pool.machine for pool in settings.cluster.node_pools if pool.purpose == "system"]
    if not machines:
        return
    largest = {
        "cpu": max(machine.cpu for machine in machines),
        "memory": max(machine.memory for machine in machines),
    }
    for section, inside in (("data", settings.data), ("mesh", settings.mesh), ("training", settings.training)):
        for path, resources in each(Resources, inside, (section,)):
            for key, request in (("cpu", resources.requests.cpu), ("memory", resources.requests.memory)):
                if request > largest[key]:
                    what = f"{request} fits on no system node: the largest has {largest[key]}"
                    yield Violation((*path, "requests", key), what, "Write less, or choose larger machines")


@rule("cluster", "training")
def replicas_have_nodes_of_their_own(settings: Settings) -> Iterator[Violation]:
    """Refuse more replicas than system nodes: two on one node are lost together."""
    nodes = sum(pool.nodes.max for pool in settings.cluster.node_pools if pool.purpose == "system")
    replicas = settings.training.operator.replicas
    if 0 < nodes < replicas:
        what = f"{replicas} replicas would share at most {nodes} system nodes"
        yield Violation(("training", "operator", "replicas"), what, f"Write {nodes} or less, or raise the pool's max")


@rule("training")
def bursts_are_not_below_the_rate(settings: Settings) -> Iterator[Violation]:
    """Refuse a burst below the sustained rate, which could then never be reached."""
    operator = settings.training.operator
    if operator.burst < operator.qps:
        what = f"{operator.burst} is less than qps, {operator.qps}"
        yield Violation(("training", "operator", "burst"), what, f"Write {operator.qps} or more")


@rule("mesh")
def load_balancers_say_whom_they_let_in(settings: Settings) -> Iterator[Violation]:
    """Refuse a load balancer that lists no addresses: being open to everyone has to be written down."""
    ingress = settings.mesh.ingress
    if ingress.service_type == "LoadBalancer" and not ingress.allowed_cidrs:
        what = "an empty list would let everyone in"
        yield Violation(
            ("mesh", "ingress", "allowedCidrs"),
            what,
            'List your networks, or write ["0.0.0.0/0"] if you mean it',
        )
