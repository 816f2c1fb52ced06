"""CSI drivers, where the platform does not bring them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi

from infra import chart_sources
from infra.core.chart import Chart, ChartArgs
from infra.core.chart_source import ChartSource
from infra.core.component import Component
from infra.node_labels import HOST, ZONE

if TYPE_CHECKING:
    from infra.settings.models.storage.storage import Driver, Drivers

PART_OF = "cluster"
REPLICAS = 2
"""Of each controller: its side containers elect a leader, and the other takes over within seconds."""

SYSTEM_CRITICAL = "system-cluster-critical"
ROLE = "eks.amazonaws.com/role-arn"

Values = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class CsiDriversArgs:
    """What the drivers are installed from.

    Args:
        settings: which drivers, and who brings them.
        namespace: where they live; must admit privileged pods.
    """

    settings: Drivers
    namespace: pulumi.Input[str]


class CsiDrivers(Component):
    """Owns the charts of the drivers that are to be installed: two controllers each, spread over zones and hosts."""

    group = "cluster"

    def __init__(self, name: str, args: CsiDriversArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        drivers = args.settings
        charts: tuple[tuple[Driver | None, ChartSource, Values], ...] = (
            (drivers.ebs, chart_sources.AWS_EBS_CSI, _ebs(_role(drivers.ebs))),
            (drivers.efs, chart_sources.AWS_EFS_CSI, _efs(_role(drivers.efs))),
            (drivers.fsx_lustre, chart_sources.AWS_FSX_CSI, _fsx(_role(drivers.fsx_lustre))),
            (drivers.mountpoint_s3, chart_sources.MOUNTPOINT_S3_CSI, _mountpoint(_role(drivers.mountpoint_s3))),
            (drivers.nfs, chart_sources.NFS_CSI, _nfs()),
        )
        for driver, source, values in charts:
            if driver and driver.source == "install":
                Chart(
                    source.chart,
                    ChartArgs(source=source, namespace=args.namespace, part_of=PART_OF, values=values),
                    opts=self.child(),
                )
        self.register_outputs({})


def _role(driver: Driver | None) -> Values:
    """Return the annotations of a ServiceAccount that acts on AWS."""
    role = getattr(driver, "role", None)
    return {ROLE: role} if role else {}


def _spread() -> list[Values]:
    """Spread controllers over zones and hosts; a cluster that has lost a zone may still restart them."""
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway"} for key in (ZONE, HOST)]


def _account(name: str, annotations: Values) -> Values:
    return {"create": True, "name": name, "annotations": annotations}


def _ebs(role: Values) -> Values:
    """Source: https://github.com/kubernetes-sigs/aws-ebs-csi-driver, `charts/aws-ebs-csi-driver` (2.64.0)."""
    return {
        "controller": {
            "replicaCount": REPLICAS,
            "podDisruptionBudget": {"enabled": True, "maxUnavailable": 1},
            "priorityClassName": SYSTEM_CRITICAL,
            "topologySpreadConstraints": _spread(),
            "serviceAccount": _account("ebs-csi-controller-sa", role),
        },
        "node": {"tolerateAllTaints": True},
    }


def _efs(role: Values) -> Values:
    """Source: https://github.com/kubernetes-sigs/aws-efs-csi-driver, `charts/aws-efs-csi-driver` (4.4.1)."""
    return {
        "controller": {
            "replicaCount": REPLICAS,
            "podDisruptionBudget": {"enabled": True, "minAvailable": 1},
            "priorityClassName": SYSTEM_CRITICAL,
            "topologySpreadConstraints": _spread(),
            "serviceAccount": _account("efs-csi-controller-sa", role),
        },
        "useHelmHooksForCSIDriver": False,
    }


def _fsx(role: Values) -> Values:
    """Source: https://github.com/kubernetes-sigs/aws-fsx-csi-driver, `charts/aws-fsx-csi-driver` (1.17.0)."""
    return {
        "controller": {
            "replicaCount": REPLICAS,
            "podDisruptionBudget": {"enabled": True},
            "topologySpreadConstraints": _spread(),
            "serviceAccount": _account("fsx-csi-controller-sa", role),
        }
    }


def _mountpoint(role: Values) -> Values:
    """Source: https://github.com/awslabs/mountpoint-s3-csi-driver, `charts/aws-mountpoint-s3-csi-driver` (2.7.0)."""
    return {"node": {"tolerateAllTaints": True, "serviceAccount": _account("s3-csi-driver-sa", role)}}


def _nfs() -> Values:
    """Source: https://github.com/kubernetes-csi/csi-driver-nfs, `charts` (4.13.4).

    Both controllers use the node's network, and so cannot share a node: one steps down before the next comes up.
    """
    anti_affinity = {
        "labelSelector": {"matchLabels": {"app": "csi-nfs-controller"}},
        "topologyKey": HOST,
    }
    return {
        "controller": {
            "replicas": REPLICAS,
            "priorityClassName": SYSTEM_CRITICAL,
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [anti_affinity]}},
        }
    }
