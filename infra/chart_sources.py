"""The Helm charts Flotilla can install, pinned by version and by the digest of their archive.

A repository's index lists both; `flotilla charts pin REPOSITORY CHART VERSION` prints them for this file. Charts that a
Go module ships are pinned by their files: `flotilla charts pin … --module MODULE --folder FOLDER`.
"""

from __future__ import annotations

from infra import crd_sources
from infra.core.chart_module import ChartModule
from infra.core.chart_source import ChartSource

STRIMZI = ChartSource(
    repository="https://strimzi.io/charts",
    chart="strimzi-kafka-operator",
    version="1.2.0",
    digest="sha256:0f8a50b2f19bd99482f9fd6e17cf42902f72f9e594a136813ac3f0b7af422efd",
)

CLOUDNATIVE_PG = ChartSource(
    repository="https://cloudnative-pg.github.io/charts",
    chart="cloudnative-pg",
    version="0.29.0",
    digest="sha256:668e065ff53508d58238788fd35b355a925060843629a951df0e6a9362e6d32f",
    app_version="1.30.0",
)

BARMAN_CLOUD = ChartSource(
    repository="https://cloudnative-pg.github.io/charts",
    chart="plugin-barman-cloud",
    version="0.7.0",
    app_version="v0.13.0",
)

MOCO = ChartSource(repository="https://cybozu-go.github.io/moco", chart="moco", version="0.25.0", app_version="0.35.0")

PERCONA_XTRADB = ChartSource(
    repository="https://percona.github.io/percona-helm-charts", chart="pxc-operator", version="1.19.1"
)

AWS_EBS_CSI = ChartSource(
    repository="https://kubernetes-sigs.github.io/aws-ebs-csi-driver",
    chart="aws-ebs-csi-driver",
    version="2.64.0",
    app_version="1.64.0",
)

AWS_EFS_CSI = ChartSource(
    repository="https://kubernetes-sigs.github.io/aws-efs-csi-driver",
    chart="aws-efs-csi-driver",
    version="4.4.1",
    app_version="3.4.1",
)

AWS_FSX_CSI = ChartSource(
    repository="https://kubernetes-sigs.github.io/aws-fsx-csi-driver",
    chart="aws-fsx-csi-driver",
    version="1.17.0",
    app_version="1.9.0",
)

MOUNTPOINT_S3_CSI = ChartSource(
    repository="https://awslabs.github.io/mountpoint-s3-csi-driver",
    chart="aws-mountpoint-s3-csi-driver",
    version="2.7.0",
)

NFS_CSI = ChartSource(
    repository="https://kubernetes-csi.github.io/csi-driver-nfs", chart="csi-driver-nfs", version="4.13.4"
)

ROOK = ChartSource(repository="https://charts.rook.io/release", chart="rook-ceph", version="v1.20.6")

NODE_FEATURE_DISCOVERY = ChartSource(
    repository="https://kubernetes-sigs.github.io/node-feature-discovery/charts",
    chart="node-feature-discovery",
    version="0.19.0",
)

SEAWEEDFS = ChartSource(
    repository="https://seaweedfs.github.io/seaweedfs-operator",
    chart="seaweedfs-operator",
    version="0.1.39",
    app_version="1.0.36",
)

MINIO_OPERATOR = ChartSource(repository="https://operator.min.io", chart="operator", version="7.1.1")

KUEUE = ChartSource(
    repository="oci://registry.k8s.io/kueue/charts",
    chart="kueue",
    version="0.15.2",
    module=ChartModule(
        path=crd_sources.KUEUE.module,
        version=crd_sources.KUEUE.version,
        h1=crd_sources.KUEUE.h1,
        folder="charts/kueue",
        files="sha256:1ffbbeefbe9e8a98d7cbe1d01e12bcc37f86526b78002e30f9395c956a0e5665",
    ),
    groups=("kueue.x-k8s.io",),
)
"""The module's chart is the released one but for its images, which the component names.

Not 0.15.0: once any node of a pool with a topology is full, it admits no job of several pods that asks for no place.
"""

VOLCANO = ChartSource(
    repository="https://volcano-sh.github.io/helm-charts",
    chart="volcano",
    version="1.15.2",
    digest="sha256:84b13ab82dd73c95307131ac105566f1dcf96383eed14bf30c4a74b0020b3fdd",
    groups=("scheduling.volcano.sh",),
)

ALL = (
    STRIMZI,
    CLOUDNATIVE_PG,
    BARMAN_CLOUD,
    MOCO,
    PERCONA_XTRADB,
    AWS_EBS_CSI,
    AWS_EFS_CSI,
    AWS_FSX_CSI,
    MOUNTPOINT_S3_CSI,
    NFS_CSI,
    ROOK,
    SEAWEEDFS,
    MINIO_OPERATOR,
    NODE_FEATURE_DISCOVERY,
    KUEUE,
    VOLCANO,
)
"""Every pinned chart."""


def source_of(repository: str, chart: str, version: str) -> ChartSource | None:
    """Return the pinned chart of this repository, name and version; None where none is pinned so."""
    wanted = (repository, chart, version)
    return next((each for each in ALL if (each.repository, each.chart, each.version) == wanted), None)
