"""Every image the platform runs, in one place.

Sources: release table of Kubeflow 26.03.1 (https://github.com/kubeflow/community-distribution), and each project's
own release where newer. Custom resource definitions are pinned in `crd_sources.py`.
"""

from __future__ import annotations

from infra.core.parts import Image

KUBEFLOW_RELEASE = "26.03.1"

TRAINING_OPERATOR = Image(
    repository="ghcr.io/kubeflow/training-v1/training-operator", tag="v1-93c5489", version="v1.9.4"
)
"""Tags are commits; this is the one behind v1.9.4 (manifests/overlays/kubeflow/kustomization.yaml at that tag)."""

ISTIO_PILOT = Image(repository="registry.istio.io/release/pilot", tag="1.30.1", version="1.30.1")
ISTIO_PROXY = Image(repository="registry.istio.io/release/proxyv2", tag="1.30.1", version="1.30.1")

NVIDIA_DEVICE_PLUGIN = Image(repository="nvcr.io/nvidia/k8s-device-plugin", tag="v0.20.0", version="v0.20.0")
"""Also holds GPU feature discovery and the daemon of the Multi-Process Service."""

KUEUE = Image(repository="registry.k8s.io/kueue/kueue", tag="v0.15.2", version="v0.15.2")

GANG_SCHEDULER = Image(repository="registry.k8s.io/scheduler-plugins/kube-scheduler", tag="v0.34.7", version="v0.34.7")
"""Kubernetes 1.34's scheduler with plugins; the newest whose source is published as a module."""

DCGM_EXPORTER = Image(
    repository="nvcr.io/nvidia/k8s/dcgm-exporter", tag="4.5.3-4.8.2-distroless", version="4.5.3-4.8.2"
)
NODE_PROBLEM_DETECTOR = Image(
    repository="registry.k8s.io/node-problem-detector/node-problem-detector", tag="v1.35.2", version="v1.35.2"
)
AMD_DEVICE_PLUGIN = Image(repository="docker.io/rocm/k8s-device-plugin", tag="1.31.0.10", version="1.31.0.10")
NEURON_DEVICE_PLUGIN = Image(
    repository="public.ecr.aws/neuron/neuron-device-plugin", tag="2.29.16.0", version="2.29.16.0"
)

CEPH = Image(repository="quay.io/ceph/ceph", tag="v20.2.4", version="v20.2.4")
SNAPSHOT_CONTROLLER = Image(
    repository="registry.k8s.io/sig-storage/snapshot-controller", tag="v8.6.0", version="v8.6.0"
)

EVENT_EXPORTER = Image(
    repository="ghcr.io/open-telemetry/opentelemetry-collector-releases/opentelemetry-collector-contrib",
    tag="0.139.0",
    version="0.139.0",
)
"""The OpenTelemetry Collector; `tests/servers/toolchain/event-exporter` builds the same version's components."""

KAFKA = "4.3.1"
KAFKA_METADATA = "4.3-IV0"
"""Version of Kafka that Strimzi runs, and of its metadata; the newest that the pinned Strimzi knows."""

KAFKA_TOOLS = Image(repository="docker.io/apache/kafka", tag=KAFKA, version=KAFKA)
"""Kafka's own command-line tools, which serve older brokers too."""

RABBITMQ = Image(repository="docker.io/library/rabbitmq", tag="4.2.4-management", version="4.2.4")
CURL = Image(repository="docker.io/curlimages/curl", tag="8.16.0", version="8.16.0")

POSTGRESQL = Image(repository="ghcr.io/cloudnative-pg/postgresql", tag="18.4-system-trixie", version="18.4")
"""What PostgreSQL clusters run."""

POSTGRESQL_CLIENT = Image(repository="docker.io/library/postgres", tag="18.4", version="18.4")
"""Whose `psql` prepares PostgreSQL servers."""

MOCO_MYSQL = Image(repository="ghcr.io/cybozu-go/moco/mysql", tag="8.4.8", version="8.4.8")
"""Stays at 8.4: MySQL 9 has no mysql_native_password, the only plugin that metadata's client knows."""

MYSQL_CLIENT = Image(repository="docker.io/library/mysql", tag="8.4.8", version="8.4.8")
"""Whose `mysql` prepares MySQL and MariaDB servers."""

PERCONA_XTRADB_OPERATOR = "1.19.1"
PERCONA_XTRADB = Image(repository="docker.io/percona/percona-xtradb-cluster", tag="8.4.7-7.1", version="8.4.7")
PERCONA_HAPROXY = Image(repository="docker.io/percona/haproxy", tag="2.8.17", version="2.8.17")
PERCONA_XTRABACKUP = Image(repository="docker.io/percona/percona-xtrabackup", tag="8.4.0-5.1", version="8.4.0")

KARPENTER_AWS = Image(repository="public.ecr.aws/karpenter/controller", tag="1.14.1", version="v1.14.1")
KARPENTER_KWOK = Image(repository="flotilla.dev/sandbox/karpenter", tag="v1.14.1", version="v1.14.1")
"""Karpenter for simulated machines, which is published nowhere: `sandbox/toolchain/karpenter` builds it."""

CLUSTER_AUTOSCALER = Image(
    repository="registry.k8s.io/autoscaling/cluster-autoscaler", tag="v1.36.1", version="v1.36.1"
)

AWS_CLI = Image(repository="public.ecr.aws/aws-cli/aws-cli", tag="2.36.44", version="2.36.44")

SEAWEEDFS = Image(repository="docker.io/chrislusf/seaweedfs", tag="4.47", version="4.47")
MINIO = Image(repository="quay.io/minio/minio", tag="RELEASE.2025-09-07T16-13-09Z", version="2025-09-07T16-13-09Z")
"""The last that its makers published before they archived the community edition."""
