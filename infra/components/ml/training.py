"""The training operator: TFJob, PyTorchJob, XGBoostJob, MPIJob, PaddleJob and JAXJob."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulumi
import pulumi_kubernetes as k8s

from infra import crd_sources, versions
from infra.core import names
from infra.core.availability import LeaderElected
from infra.core.component import Component
from infra.core.crds.bundle import CrdBundle
from infra.core.parts import (
    Container,
    FromField,
    Permissions,
    Probe,
    Probes,
    Rule,
    Volume,
    health,
    metrics,
    webhook,
)
from infra.core.workload import Workload, WorkloadArgs

if TYPE_CHECKING:
    from infra.settings.models.training import TrainingOperatorSettings

NAME = "training-operator"
"""Name of the Deployment and Service; the operator signs its webhook certificate for this Service."""

WEBHOOK_SECRET = "training-operator-webhook-cert"  # noqa: S105 - a name
WEBHOOK_CONFIGURATION = "validator.training-operator.kubeflow.org"
LEASE = "1ca428e5.training-operator.kubeflow.org"
PART_OF = "training"

KINDS = ("jaxjobs", "mpijobs", "paddlejobs", "pytorchjobs", "tfjobs", "xgboostjobs")
VALIDATED_KINDS = ("jaxjob", "paddlejob", "pytorchjob", "tfjob", "xgboostjob")
"""Kinds with a validating webhook; upstream has none for MPIJob."""

_READ = ("get", "list", "watch")
_WRITE = ("create", "delete", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, kw_only=True)
class TrainingOperatorArgs:
    """What the training operator is declared from.

    Args:
        settings: replicas, resources and client limits.
        namespace: where it runs.
        context: the cluster's kubeconfig context, for the schemas applied outside the engine.
        gang_scheduler: the scheduler that starts a job's pods together; None where the cluster's own starts each. The
            operator ends where that scheduler's PodGroups are not served.
    """

    settings: TrainingOperatorSettings
    namespace: pulumi.Input[str]
    context: pulumi.Input[str]
    gang_scheduler: str | None = None


class TrainingOperator(Component):
    """Runs training jobs of six kinds. Owns their schemas, webhooks, roles and controller; owns no team's jobs.

    Attributes:
        ready: the resources a job must wait for.

    Source: https://github.com/kubeflow/trainer, tag v1.9.4, `manifests/base` and `cmd/training-operator.v1/main.go`.
    """

    group = "ml"

    def __init__(self, name: str, args: TrainingOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        labels = names.labels(NAME, part_of=PART_OF)
        crds = CrdBundle(f"{name}-crds", crd_sources.TRAINING_OPERATOR, context=args.context, opts=self.child())
        certificate = k8s.core.v1.Secret(
            WEBHOOK_SECRET,
            metadata=k8s.meta.v1.ObjectMetaArgs(name=WEBHOOK_SECRET, namespace=args.namespace, labels=labels),
            opts=self.child(),
        )
        webhooks = k8s.admissionregistration.v1.ValidatingWebhookConfiguration(
            WEBHOOK_CONFIGURATION,
            metadata=k8s.meta.v1.ObjectMetaArgs(name=WEBHOOK_CONFIGURATION, labels=labels),
            webhooks=[_webhook(kind, args.namespace) for kind in VALIDATED_KINDS],
            opts=self.child(),
        )
        workload = Workload(
            NAME,
            WorkloadArgs(
                namespace=args.namespace,
                part_of=PART_OF,
                container=_container(args.settings, args.gang_scheduler),
                availability=LeaderElected(replicas=args.settings.replicas, arguments=("--leader-elect",), lease=LEASE),
                resources=args.settings.resources,
                permissions=PERMISSIONS,
            ),
            opts=self.child(depends_on=[crds, certificate, webhooks]),
        )
        for role, rules, aggregates in USER_ROLES:
            k8s.rbac.v1.ClusterRole(
                role,
                metadata=k8s.meta.v1.ObjectMetaArgs(name=role, labels=labels | _aggregation(aggregates)),
                rules=[
                    k8s.rbac.v1.PolicyRuleArgs(
                        api_groups=list(rule.groups), resources=list(rule.resources), verbs=list(rule.verbs)
                    )
                    for rule in rules
                ],
                opts=self.child(),
            )
        self.ready: list[pulumi.Resource] = [crds, workload]
        self.register_outputs({})


def _container(settings: TrainingOperatorSettings, gang_scheduler: str | None) -> Container:
    arguments = [
        "--metrics-bind-address=:8080",
        "--health-probe-bind-address=:8081",
        "--webhook-server-port=9443",
        f"--webhook-service-name={NAME}",
        f"--webhook-secret-name={WEBHOOK_SECRET}",
        f"--controller-threads={settings.threads}",
        f"--kube-api-qps={settings.qps}",
        f"--kube-api-burst={settings.burst}",
    ]
    if gang_scheduler:
        arguments.append(f"--gang-scheduler-name={gang_scheduler}")
    return Container(
        image=versions.TRAINING_OPERATOR,
        command=("/manager",),
        arguments=tuple(arguments),
        environment={
            "MY_POD_NAMESPACE": FromField(path="metadata.namespace"),
            "MY_POD_NAME": FromField(path="metadata.name"),
        },
        ports=[metrics(8080, service_port=8080), webhook(9443), health(8081)],
        probes=Probes(
            startup=Probe(path="/readyz", port="http-health", period_seconds=2, failures=60),
            readiness=Probe(path="/readyz", port="http-health"),
            liveness=Probe(path="/healthz", port="http-health", period_seconds=20),
        ),
        volumes=[
            Volume(name="cert", path="/tmp/k8s-webhook-server/serving-certs", secret=WEBHOOK_SECRET)  # noqa: S108 - in a pod
        ],
        user=1000,
    )


def _webhook(kind: str, namespace: pulumi.Input[str]) -> k8s.admissionregistration.v1.ValidatingWebhookArgs:
    """Return one kind's webhook; the operator itself fills in the certificate authority."""
    return k8s.admissionregistration.v1.ValidatingWebhookArgs(
        name=f"validator.{kind}.training-operator.kubeflow.org",
        admission_review_versions=["v1"],
        failure_policy="Fail",
        side_effects="None",
        timeout_seconds=10,
        client_config=k8s.admissionregistration.v1.WebhookClientConfigArgs(
            service=k8s.admissionregistration.v1.ServiceReferenceArgs(
                name=NAME, namespace=namespace, path=f"/validate-kubeflow-org-v1-{kind}"
            )
        ),
        rules=[
            k8s.admissionregistration.v1.RuleWithOperationsArgs(
                api_groups=["kubeflow.org"],
                api_versions=["v1"],
                operations=["CREATE", "UPDATE"],
                resources=[f"{kind}s"],
            )
        ],
    )


def _aggregation(into: tuple[str, ...]) -> dict[str, str]:
    return {f"rbac.authorization.kubeflow.org/aggregate-to-{role}": "true" for role in into}


_JOBS = tuple(KINDS)
_STATUS = tuple(f"{kind}/status" for kind in KINDS)

PERMISSIONS = Permissions(
    cluster=(
        Rule(groups=("",), resources=("configmaps",), verbs=("create", "list", "update", "watch")),
        Rule(groups=("",), resources=("events", "pods"), verbs=_WRITE),
        Rule(groups=("",), resources=("pods/exec",), verbs=("create",)),
        Rule(groups=("",), resources=("secrets",), verbs=("get", "list", "update", "watch")),
        Rule(groups=("",), resources=("serviceaccounts",), verbs=("create", *_READ)),
        Rule(groups=("",), resources=("services",), verbs=("create", "delete", *_READ)),
        Rule(
            groups=("admissionregistration.k8s.io",),
            resources=("validatingwebhookconfigurations",),
            verbs=("get", "list", "update", "watch"),
        ),
        Rule(groups=("autoscaling",), resources=("horizontalpodautoscalers",), verbs=_WRITE),
        Rule(groups=("kubeflow.org",), resources=_JOBS, verbs=_WRITE),
        Rule(
            groups=("kubeflow.org",),
            resources=tuple(f"{kind}/finalizers" for kind in KINDS),
            verbs=("update",),
        ),
        Rule(groups=("kubeflow.org",), resources=_STATUS, verbs=("get", "patch", "update")),
        Rule(
            groups=("rbac.authorization.k8s.io",),
            resources=("roles", "rolebindings"),
            verbs=("create", "list", "update", "watch"),
        ),
        Rule(groups=("scheduling.volcano.sh", "scheduling.x-k8s.io"), resources=("podgroups",), verbs=_WRITE),
    )
)
"""Upstream's ClusterRole at v1.9.4. It lacks leases, without which no leader can be elected; the workload adds them."""

USER_ROLES: tuple[tuple[str, tuple[Rule, ...], tuple[str, ...]], ...] = (
    (
        "kubeflow-training-edit",
        (
            Rule(groups=("kubeflow.org",), resources=_JOBS, verbs=_WRITE),
            Rule(groups=("kubeflow.org",), resources=_STATUS, verbs=("get",)),
        ),
        ("kubeflow-edit",),
    ),
    (
        "kubeflow-training-view",
        (
            Rule(groups=("kubeflow.org",), resources=_JOBS, verbs=_READ),
            Rule(groups=("kubeflow.org",), resources=_STATUS, verbs=("get",)),
        ),
        ("kubeflow-view",),
    ),
)
"""What a team's members may do with jobs, added to their roles by label."""
