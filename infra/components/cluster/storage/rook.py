"""Rook, and the Ceph cluster that it runs on this cluster's disks or connects from outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_kubernetes as k8s
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from infra import chart_sources, versions
from infra.core import names
from infra.core.chart import Chart, ChartArgs
from infra.core.component import Component
from infra.core.namespace import Namespace
from infra.node_labels import HOST, ZONE
from infra.settings.models.storage.ceph import CephFs, CephRbd, ExternalCeph, RookCeph

if TYPE_CHECKING:
    from infra.settings.models.storage.storage import Storage

PART_OF = "cluster"
API = "ceph.rook.io/v1"
NAMESPACE = "rook-ceph"

PORTS = ((3300, None), (6789, None), (6800, 7568))
"""Monitors, and the range that the other daemons listen in.

Source: https://docs.ceph.com/en/latest/rados/configuration/network-config-ref/
"""

VALUES = {"priorityClassName": "system-cluster-critical", "unreachableNodeTolerationSeconds": 5}
"""Source: https://github.com/rook/rook, `deploy/charts/rook-ceph/values.yaml` (v1.20.6)."""

COPIES = {"size": 3, "requireSafeReplicaSize": True}

Spec = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RookArgs:
    """What Rook and its Ceph cluster are declared from.

    Args:
        storage: who brings Rook, the Ceph cluster, and the classes whose pools and file systems it needs.
    """

    storage: Storage


class Rook(Component):
    """Owns Rook's namespace and chart, where they are to be installed, the CephCluster, and its pools.

    A block pool or file system is declared for each class that names one. Rook refuses to delete the cluster while
    data is in it. The monitors and keys of an external cluster come as the Secrets that its administrator imports;
    they are not ours.

    Source: https://github.com/rook/rook, `deploy/examples/{cluster,cluster-external,filesystem}.yaml` (v1.20.6).
    """

    group = "cluster"

    def __init__(self, name: str, args: RookArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self._name = name
        self._storage = args.storage
        self._namespace: pulumi.Input[str] = NAMESPACE
        operator = self._install() if args.storage.drivers.rook_is_installed else []
        match args.storage.ceph:
            case RookCeph() as rook:
                cluster = self._object("CephCluster", "rook-ceph", _cluster(rook), operator)
                self._pools(rook, cluster)
            case ExternalCeph():
                spec = {"external": {"enable": True}, "crashCollector": {"disable": True}}
                self._object("CephCluster", "rook-ceph", spec, operator)
            case None:
                pass
        self.register_outputs({})

    def _install(self) -> list[pulumi.Resource]:
        """Install the operator. It is one pod by Rook's design; Ceph and its drivers serve on without it."""
        space = Namespace(NAMESPACE, part_of=PART_OF, pod_security="privileged", opts=self.child())
        self._namespace = space.name
        k8s.networking.v1.NetworkPolicy(
            f"{self._name}-ceph",
            metadata=ObjectMetaArgs(name="ceph", namespace=space.name, labels=names.labels("ceph", part_of=PART_OF)),
            spec=_reachable(),
            opts=self.child(),
        )
        return Chart(
            chart_sources.ROOK.chart,
            ChartArgs(source=chart_sources.ROOK, namespace=space.name, part_of=PART_OF, values=VALUES),
            opts=self.child(),
        ).ready

    def _pools(self, rook: RookCeph, cluster: pulumi.Resource) -> None:
        classes = self._storage.classes
        for pool in dict.fromkeys(each.pool for each in classes if isinstance(each, CephRbd)):
            self._object("CephBlockPool", pool, _pool(rook), [cluster])
        pools: dict[str, list[str]] = {}
        for each in classes:
            if isinstance(each, CephFs):
                pool = each.pool.removeprefix(f"{each.fs_name}-")
                pools.setdefault(each.fs_name, []).append(pool)
        for file_system, data_pools in pools.items():
            made = self._object("CephFilesystem", file_system, _file_system(rook, data_pools), [cluster])
            group = {"name": "csi", "filesystemName": file_system, "pinning": {"distributed": 1}}
            self._object("CephFilesystemSubVolumeGroup", f"{file_system}-csi", group, [made])

    def _object(self, kind: str, name: str, spec: Spec, after: list[pulumi.Resource]) -> CustomResource:
        return CustomResource(
            f"{self._name}-{kind.lower()}-{name}",
            api_version=API,
            kind=kind,
            metadata=ObjectMetaArgs(name=name, namespace=self._namespace, labels=names.labels(name, part_of=PART_OF)),
            spec=spec,
            opts=self.child(depends_on=after),
        )


def _reachable() -> k8s.networking.v1.NetworkPolicySpecArgs:
    """Let Ceph's daemons reach one another, and nodes and the drivers on them reach Ceph."""
    ports = [
        k8s.networking.v1.NetworkPolicyPortArgs(port=first, end_port=last, protocol="TCP") for first, last in PORTS
    ]
    return k8s.networking.v1.NetworkPolicySpecArgs(
        pod_selector=k8s.meta.v1.LabelSelectorArgs(),
        policy_types=["Ingress"],
        ingress=[
            k8s.networking.v1.NetworkPolicyIngressRuleArgs(
                from_=[k8s.networking.v1.NetworkPolicyPeerArgs(pod_selector=k8s.meta.v1.LabelSelectorArgs())]
            ),
            k8s.networking.v1.NetworkPolicyIngressRuleArgs(ports=ports),
        ],
    )


def _cluster(rook: RookCeph) -> Spec:
    return {
        "cephVersion": {"image": versions.CEPH.reference},
        "dataDirHostPath": "/var/lib/rook",
        "mon": {"count": 3, "allowMultiplePerNode": False, **_mon_zones(rook)},
        "mgr": {"count": 2, "allowMultiplePerNode": False},
        "dashboard": {"enabled": True, "ssl": True},
        "network": {"connections": {"encryption": {"enabled": True}, "requireMsgr2": True}},
        "security": {"cephx": {"csi": {"keyType": "aes"}}},
        "disruptionManagement": {"managePodBudgets": True},
        "priorityClassNames": {
            "mon": "system-node-critical",
            "osd": "system-node-critical",
            "mgr": "system-cluster-critical",
        },
        "placement": {"all": {"nodeAffinity": _nodes(rook)}},
        "storage": {"useAllNodes": True, "useAllDevices": False, "deviceFilter": rook.device_filter},
    }


def _mon_zones(rook: RookCeph) -> Spec:
    return {"failureDomainLabel": ZONE} if rook.failure_domain == "zone" else {}


def _nodes(rook: RookCeph) -> Spec:
    expression = {"key": names.NODE_POOL, "operator": "In", "values": [rook.node_pool]}
    terms = [{"matchExpressions": [expression]}]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}


def _pool(rook: RookCeph) -> Spec:
    return {"failureDomain": rook.failure_domain, "replicated": COPIES}


def _file_system(rook: RookCeph, pools: list[str]) -> Spec:
    hosts = {
        "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["rook-ceph-mds"]}]},
        "topologyKey": HOST,
    }
    return {
        "metadataPool": _pool(rook),
        "dataPools": [{"name": pool, **_pool(rook)} for pool in dict.fromkeys(pools)],
        "preserveFilesystemOnDelete": True,
        "metadataServer": {
            "activeCount": 1,
            "activeStandby": True,
            "placement": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [hosts]}},
            "priorityClassName": "system-cluster-critical",
        },
    }
