"""Databases, brokers and object stores: nobody keeps state in a store that is one pod of this cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import yaml

from policies.exemptions import SINGLE_STORE
from policies.labels import selects
from policies.manifest import UNKNOWN, Manifest, dig, group_kind, items, mapping, name, namespace
from policies.pods import POD_KINDS, REPLICATED_KINDS, containers, pod_labels
from policies.rule import Finding, StackRule
from policies.workloads import AUTOSCALER, floor

CONFIG_MAP, SERVICE, NAMESPACE = "ConfigMap", "Service", "Namespace"
POOL = "KafkaNodePool.kafka.strimzi.io"
LEAST = 2

HOST_KEYS = re.compile(
    r"(?i)(db|mysql)host|katib_(mysql|postgresql)_db_host|(postgres|mysql)_host|pghost|dbconfig_\w*host|"
    r"(objectstoreconfig|minio)_host|aws_s3_endpoint|aws_endpoint_url(_s3)?|endpoint|brokers|bootstrap[._]?servers"
)
"""Keys and variables under which consumers look for a store's address."""

BESIDE_ENDPOINT = frozenset(
    {"bucket", "bucketName", "region", "insecure", "disableSSL", "forcePathStyle", "s3ForcePathStyle", "vhost"}
)
"""Keys that tell the endpoint of a store beside them from that of anything else."""

ADDRESS = re.compile(r"(?:[a-z0-9+]+://)?(?:[^@/\s]*@)?(?P<host>[a-z0-9]([-a-z0-9.]*[a-z0-9])?)(?::\d+)?(?:/.*)?")


@dataclass(frozen=True, kw_only=True)
class Operated:
    """How an operator names the Service of a cluster, and where the cluster says how many pods it has."""

    service: re.Pattern[str]
    kind: str
    pods: tuple[str, ...]


OPERATED = (
    Operated(
        service=re.compile(r"moco-(.+)-(?:primary|replica)"), kind="MySQLCluster.moco.cybozu.com", pods=("replicas",)
    ),
    Operated(service=re.compile(r"(.+)-(?:rw|ro|r)"), kind="Cluster.postgresql.cnpg.io", pods=("instances",)),
    Operated(service=re.compile(r"(.+)-haproxy"), kind="PerconaXtraDBCluster.pxc.percona.com", pods=("pxc", "size")),
    Operated(service=re.compile(r"(.+)"), kind="RabbitmqCluster.rabbitmq.com", pods=("replicas",)),
    Operated(service=re.compile(r"(.+)-s3"), kind="Seaweed.seaweed.seaweedfs.com", pods=("s3", "replicas")),
    Operated(service=re.compile(r"(.+)-filer"), kind="Seaweed.seaweed.seaweedfs.com", pods=("filer", "replicas")),
)
KAFKA = re.compile(r"(.+)-kafka-(?:bootstrap|brokers)")
TENANT = "Tenant.minio.min.io"
"""Its Service is always called `minio`."""

_CONSUMERS = POD_KINDS | {CONFIG_MAP}
_KINDS = (
    _CONSUMERS
    | REPLICATED_KINDS
    | {SERVICE, NAMESPACE, AUTOSCALER, POOL, TENANT}
    | {operated.kind for operated in OPERATED}
)


def check(manifests: Sequence[Manifest]) -> list[Finding]:
    """Refuse an address of a store in this cluster behind which fewer than two pods run, or nobody knows how many."""
    stack = _Stack(manifests)
    return [
        Finding(manifest, f"{key} points to {host}, {fault}")
        for manifest in manifests
        if group_kind(manifest) in _CONSUMERS
        for key, host in dict.fromkeys(_addresses(manifest))
        if (fault := stack.fault(host, manifest))
    ]


class _Stack:
    def __init__(self, manifests: Sequence[Manifest]) -> None:
        self._all = manifests
        self._namespaces = {name(each) for each in manifests if group_kind(each) == NAMESPACE}

    def fault(self, host: str, consumer: Manifest) -> str | None:
        """Return what is wrong with a store's host; None where it is outside the cluster or survives losing a pod."""
        place = self._service(host, consumer)
        if place is None:
            return None
        counts = list(self._pods(*place))
        if UNKNOWN in counts or any(isinstance(count, int) and count >= LEAST for count in counts):
            return None
        return "which is a single pod" if counts else "behind which nothing of this stack runs two pods"

    def _service(self, host: str, consumer: Manifest) -> tuple[str, object] | None:
        """Return name and namespace of the Service that a host is; None for hosts outside the cluster."""
        first, *rest = host.removesuffix(".cluster.local").split(".")
        match rest:
            case []:
                return (first, namespace(consumer)) if not first.isdigit() else None
            case [place, "svc"]:
                return first, place
            case [place] if place in self._namespaces:
                return first, place
            case _:
                return None

    def _pods(self, service: str, place: object) -> Iterator[object]:
        """Yield how many pods each store keeps that the Service may lead to."""
        here = [each for each in self._all if namespace(each) in (place, UNKNOWN)]
        for operated in OPERATED:
            if match := operated.service.fullmatch(service):
                for cluster in here:
                    if group_kind(cluster) == operated.kind and name(cluster) == match[1]:
                        yield dig(cluster, "spec", *operated.pods)
        if match := KAFKA.fullmatch(service):
            yield from _brokers(here, match[1])
        if service == "minio":
            for tenant in here:
                if group_kind(tenant) == TENANT:
                    pools = items(dig(tenant, "spec", "pools"))
                    yield _total([dig(pool, "servers") for pool in pools])
        for each in here:
            if group_kind(each) == SERVICE and name(each) == service:
                yield from self._selected(each, here)

    def _selected(self, service: Manifest, here: Sequence[Manifest]) -> Iterator[object]:
        selector = {"matchLabels": dig(service, "spec", "selector")}
        for workload in here:
            if group_kind(workload) in REPLICATED_KINDS and selects(selector, pod_labels(workload)) is not False:
                count = floor(workload, self._all)
                yield UNKNOWN if count is None else count


def _brokers(here: Sequence[Manifest], cluster: str) -> Iterator[object]:
    counts = [
        dig(pool, "spec", "replicas")
        for pool in here
        if group_kind(pool) == POOL
        and dig(pool, "metadata", "labels", "strimzi.io/cluster") == cluster
        and "broker" in items(dig(pool, "spec", "roles"))
    ]
    if counts:
        yield _total(counts)


def _total(counts: Sequence[object]) -> object:
    return UNKNOWN if UNKNOWN in counts else sum(count for count in counts if isinstance(count, int))


def _addresses(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield key and host of each store that the object names."""
    if group_kind(manifest) == CONFIG_MAP:
        yield from _inside(dig(manifest, "data"))
        return
    for container in containers(manifest):
        for variable in items(dig(container.spec, "env")):
            yield from _named(str(dig(variable, "name")), dig(variable, "value"))


def _inside(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Walk a ConfigMap's data, and the YAML in it."""
    if isinstance(value, str) and "\n" in value:
        yield from _inside(_parsed(value), key)
    elif isinstance(value, str):
        yield from _named(key, value)
    for each in items(value):
        yield from _inside(each, key)
    fields = mapping(value)
    for name_, each in fields.items():
        if name_ == "endpoint" and BESIDE_ENDPOINT.isdisjoint(fields):
            continue
        yield from _inside(each, name_)


def _parsed(text: str) -> object:
    try:
        return cast("object", yaml.safe_load(text))
    except yaml.YAMLError:
        return None


def _named(key: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and HOST_KEYS.fullmatch(key):
        for address in value.split(","):
            if match := ADDRESS.fullmatch(address.strip()):
                yield key, match["host"]


STORES = StackRule(
    name="stores",
    title="No state lies in a store that is a single pod of this cluster.",
    why=(
        "Losing the pod's node takes Pipelines, metadata, experiments and artifacts down with it; losing its volume "
        "loses them."
    ),
    remedy=(
        "Name a store outside the cluster or one that an operator replicates, under `data.databases`, `data.events` or "
        "`data.objectStore` of the values"
    ),
    kinds=_KINDS,
    exemptions=(SINGLE_STORE,),
    check=check,
)
