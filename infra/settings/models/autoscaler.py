"""Who makes and removes nodes, and what it has to know for it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from infra.settings.models.base import Section
from infra.settings.models.node_pools import Span
from infra.settings.models.resources import Resources
from infra.settings.scalars import DnsLabel, DnsName, HaReplicas, LabelKey, Text, Word

RoleArn = Annotated[
    str,
    Text(r"arn:aws[-a-z]*:iam::[0-9]{12}:role/[-A-Za-z0-9+=,.@_/]+", 2048, "IAM role", "Write its ARN, arn:aws:iam::…"),
]
"""An IAM role."""

AmiAlias = Annotated[
    str,
    Text(
        r"(al2|al2023|bottlerocket)@(latest|v?[0-9][-0-9.a-z]*)",
        100,
        "family and version of images",
        "Write one such as al2023@v20260815; latest replaces nodes whenever Amazon publishes an image",
    ),
]
"""Amazon's images for nodes."""


class NoAutoscaler(Section):
    """Pools have a fixed size."""

    kind: Literal["none"]
    """No autoscaler: every pool keeps its number of nodes."""


class Replicas(Section):
    """How the autoscaler itself runs: on system nodes only, which it does not manage."""

    replicas: HaReplicas = 2
    """Replicas, of which one leads; at least 2, so that another takes over within seconds."""

    resources: Resources
    """Of each replica; memory grows with the number of nodes and pods."""


class Aws(Section):
    """EC2 machines."""

    cloud: Literal["aws"]
    """EC2 machines, by the provider for AWS. Each pool gets an EC2NodeClass of its own."""

    cluster_name: Word
    """Name of the EKS cluster."""

    controller_role: RoleArn
    """IAM role of Karpenter itself, for its ServiceAccount (IRSA)."""

    node_role: Word
    """Name of the IAM role of the nodes."""

    interruption_queue: Word
    """SQS queue that EventBridge sends spot interruptions to, and `controllerRole` may read and delete from. Without
    it pods on spot machines get no warning."""

    images: AmiAlias
    """Image of the nodes, as family and version."""

    subnet_tags: dict[LabelKey, Word]
    """Tags that the subnets for nodes carry."""

    security_group_tags: dict[LabelKey, Word]
    """Tags that the security groups of nodes carry."""


class Azure(Section):
    """Azure virtual machines."""

    cloud: Literal["azure"]
    """Azure virtual machines, by the Karpenter that AKS runs itself (node auto-provisioning). Each pool gets an
    AKSNodeClass of its own."""

    image_family: Literal["Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux"] = "Ubuntu2204"
    """Image of the nodes."""


class Kwok(Section):
    """Simulated machines."""

    cloud: Literal["kwok"]
    """Simulated machines, for the sandbox: every pool's machine is for sale in each of its zones."""

    boot_time: Span = "1s"
    """How long a machine takes from being bought to being ready."""

    interruption_notice: Span = "120s"
    """How long before its end a spot machine that is wanted back is told so; two minutes on AWS."""

    repair_after: Span = "10m"
    """How long a GPU stays broken before its machine is replaced, with `nodeRepair`; ten minutes on AWS."""


Provider = Annotated[Aws | Azure | Kwok, Field(discriminator="cloud")]


class Karpenter(Replicas):
    """Karpenter makes and removes the machines of the cpu and gpu pools."""

    kind: Literal["karpenter"]
    """Karpenter, which runs on the system pool and so does not make that one's nodes."""

    node_repair: bool = False
    """Whether machines whose node or GPU stays unhealthy are replaced, with one second for what still runs there. On
    AWS after 10 minutes for GPUs and 30 for the rest, as long as no more than a fifth of the pool is unhealthy."""

    provider: Provider
    """Whose machines."""


class GkeComputeClass(Section):
    """Google makes and removes nodes, by a ComputeClass for each cpu and gpu pool."""

    kind: Literal["gke-compute-class"]
    """GKE's own autoscaler. Pods choose a pool by the label `cloud.google.com/compute-class`."""

    image_type: Literal["cos_containerd", "ubuntu_containerd"] = "cos_containerd"
    """Image of the nodes."""


class Template(Section):
    """Kind of a Cluster API template; each pool refers to the one of its own name."""

    group: DnsName
    """API group, such as `infrastructure.cluster.x-k8s.io`."""

    kind: Word
    """Kind, such as `Metal3MachineTemplate`."""


class ClusterApi(Replicas):
    """Cluster Autoscaler sets the size of Cluster API's machine sets, one for each pool and zone."""

    kind: Literal["cluster-api"]
    """Cluster API, whose controllers and templates are in this cluster."""

    cluster_name: DnsLabel
    """Name of the Cluster."""

    namespace: DnsLabel
    """Namespace of the Cluster and its templates."""

    version: Annotated[str, Text(r"v[0-9]+\.[0-9]+\.[0-9]+", 20, "version", "Write one such as v1.36.3")]
    """Version of Kubernetes on the nodes."""

    machines: Literal["MachineDeployment", "MachinePool"] = "MachineDeployment"
    """Who makes a set's machines: Cluster API one by one, or the cloud as a group of its own."""

    repair_after: Span | None = None
    """How long a node or its GPUs stay unhealthy before the machine is replaced, as long as no more than a fifth of
    the pool is. Never when left out."""

    infrastructure: Template
    """Templates of machines, named as the pools."""

    bootstrap: Template
    """Templates of what joins a machine to the cluster, named as the pools."""


Autoscaler = Annotated[NoAutoscaler | Karpenter | GkeComputeClass | ClusterApi, Field(discriminator="kind")]
