"""Every rule for one object, both ways: what it refuses and what it lets pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from policies.manifest import SECRET_OUTPUTS, UNKNOWN
from policies.rules.claims import CLAIMS
from policies.rules.images import IMAGES
from policies.rules.pod_security import POD_SECURITY
from policies.rules.probes import PROBES
from policies.rules.rbac import RBAC
from policies.rules.replicas import REPLICAS
from policies.rules.resources import RESOURCES
from policies.rules.secrets import PLAIN_SECRETS
from policies.rules.spread import SPREAD
from tests.policies.objects import (
    REMOVED,
    autoscaler,
    binding,
    changed,
    config_map,
    container,
    cron_job,
    daemon_set,
    deployment,
    role,
    secret,
    with_container,
    with_pod,
)

if TYPE_CHECKING:
    from policies.manifest import Manifest
    from policies.rule import Rule

ELSEWHERE = {"matchLabels": {"app.kubernetes.io/name": "other"}}
PEM = "-----BEGIN RSA PRIVATE KEY-----"

REFUSED: list[tuple[Rule, Manifest, str]] = [
    (REPLICAS, changed(deployment(), spec__replicas=1), "declares 1 replica"),
    (REPLICAS, changed(deployment(), spec__replicas=0), "declares 0 replicas"),
    (REPLICAS, changed(deployment(), kind="StatefulSet", spec__replicas=1), "declares 1 replica"),
    (REPLICAS, autoscaler(1), "its floor is 1 replica"),
    (REPLICAS, changed(autoscaler(), spec__minReplicas=REMOVED), "its floor is 1 replica"),
    (SPREAD, with_pod(topologySpreadConstraints=REMOVED), "not spread over zones"),
    (SPREAD, with_pod(topologySpreadConstraints=REMOVED), "not spread over hosts"),
    (SPREAD, with_pod(topologySpreadConstraints__1=REMOVED), "not spread over hosts"),
    (SPREAD, with_pod(topologySpreadConstraints__0=REMOVED), "not spread over zones"),
    (SPREAD, with_pod(topologySpreadConstraints__0__labelSelector=ELSEWHERE), "misses its own pods"),
    (SPREAD, with_pod(topologySpreadConstraints__0__labelSelector=REMOVED), "misses its own pods"),
    (RESOURCES, with_container(resources=REMOVED), "no resources.requests.cpu, resources.requests.memory"),
    (RESOURCES, with_container(resources__limits=REMOVED), "no resources.limits.memory"),
    (RESOURCES, with_container(resources__requests__cpu=REMOVED), "no resources.requests.cpu"),
    (RESOURCES, with_pod(initContainers=[{"name": "migrate"}]), "init container migrate has no"),
    (
        RESOURCES,
        changed(cron_job(), spec__jobTemplate__spec__template__spec__containers__0__resources=REMOVED),
        "container web has no",
    ),
    (PROBES, with_container(readinessProbe=REMOVED), "no readinessProbe"),
    (PROBES, with_container(livenessProbe=REMOVED), "no livenessProbe"),
    (PROBES, with_container(livenessProbe={}), "no livenessProbe"),
    (PROBES, with_pod(initContainers=[{"name": "proxy", "restartPolicy": "Always"}]), "init container proxy"),
    (
        PROBES,
        changed(daemon_set(), spec__template__spec__containers__0__readinessProbe=REMOVED),
        "no readinessProbe",
    ),
    (IMAGES, with_container(image="nginx"), "has no tag"),
    (IMAGES, with_container(image="registry.example:5000/nginx"), "has no tag"),
    (IMAGES, with_container(image="nginx:latest"), "whose tag moves"),
    (IMAGES, with_container(image="nginx:1.27-latest"), "whose tag moves"),
    (IMAGES, with_container(image="nginx:stable"), "whose tag moves"),
    (IMAGES, with_container(image="nginx:alpine"), "whose tag moves"),
    (IMAGES, with_container(image=REMOVED), "names no image"),
    (IMAGES, with_pod(initContainers=[{"name": "wait", "image": "busybox"}]), "init container wait"),
    (PLAIN_SECRETS, with_container(env=[{"name": "DB_PASSWORD", "value": "hunter22"}]), "in env DB_PASSWORD"),
    (PLAIN_SECRETS, with_container(env=[{"name": "github_token", "value": "abc"}]), "in env github_token"),
    (
        PLAIN_SECRETS,
        with_container(env=[{"name": "DSN", "value": "mysql://u:p4ss@db"}]),
        "a password in a URL",
    ),
    (PLAIN_SECRETS, with_container(args=["--db-password=hunter22"]), "argument --db-password"),
    (PLAIN_SECRETS, with_container(command=["/app", "--api-key", "abcdef"]), "argument --api-key"),
    (PLAIN_SECRETS, with_container(args=[f"echo '{PEM}'"]), "a private key in its arguments"),
    (PLAIN_SECRETS, config_map(password="hunter22"), "data.password holds a secret"),
    (PLAIN_SECRETS, config_map(app="mode: fast\ndbPassword: hunter22\n"), "gives dbPassword a value"),
    (PLAIN_SECRETS, config_map(app='{\n  "secretKey": "abcdef"\n}'), "gives secretKey a value"),
    (PLAIN_SECRETS, config_map(key=PEM), "holds a private key"),
    (PLAIN_SECRETS, config_map(key="AKIAABCDEFGHIJKLMNOP"), "holds an AWS access key"),
    (
        PLAIN_SECRETS,
        secret(stringData={"password": "minio123"}),
        "stringData.password is a well-known default",
    ),
    (PLAIN_SECRETS, secret(data={"secretkey": "bWluaW8xMjM="}), "data.secretkey is a well-known default"),
    (
        PLAIN_SECRETS,
        secret(data={"key": "c2VjdXJl"}) | {SECRET_OUTPUTS: ["stringData"]},
        "data is not marked as secret",
    ),
    (POD_SECURITY, with_pod(hostNetwork=True), "pod shares hostNetwork"),
    (POD_SECURITY, with_pod(hostPID=True), "pod shares hostPID"),
    (
        POD_SECURITY,
        with_pod(volumes=[{"name": "dev", "hostPath": {"path": "/dev"}}]),
        "volume dev is of kind",
    ),
    (POD_SECURITY, with_pod(securityContext__sysctls=[{"name": "kernel.sem"}]), "unsafe sysctl kernel.sem"),
    (POD_SECURITY, with_pod(securityContext__runAsNonRoot=REMOVED), "does not set runAsNonRoot"),
    (POD_SECURITY, with_pod(securityContext__seccompProfile=REMOVED), "sets no seccompProfile"),
    (POD_SECURITY, with_pod(securityContext__runAsUser=0), "pod runs as root"),
    (POD_SECURITY, with_container(securityContext__runAsNonRoot=False), "does not set runAsNonRoot"),
    (POD_SECURITY, with_container(securityContext__runAsUser=0), "container web runs as root"),
    (POD_SECURITY, with_container(securityContext__privileged=True), "is privileged"),
    (POD_SECURITY, with_container(securityContext=REMOVED), "allowPrivilegeEscalation"),
    (POD_SECURITY, with_container(securityContext__capabilities=REMOVED), "does not drop ALL"),
    (POD_SECURITY, with_container(securityContext__capabilities__add=["NET_ADMIN"]), "adds the capability"),
    (POD_SECURITY, with_container(securityContext__procMount="Unmasked"), "changes procMount"),
    (
        POD_SECURITY,
        with_container(securityContext__seccompProfile={"type": "Unconfined"}),
        "sets no seccompProfile",
    ),
    (POD_SECURITY, with_container(securityContext__seLinuxOptions={"type": "spc_t"}), "SELinux"),
    (POD_SECURITY, with_container(securityContext__seLinuxOptions={"user": "system_u"}), "SELinux"),
    (POD_SECURITY, with_container(securityContext__appArmorProfile={"type": "Unconfined"}), "AppArmor"),
    (POD_SECURITY, with_container(securityContext__windowsOptions={"hostProcess": True}), "Windows host"),
    (POD_SECURITY, with_container(ports=[{"containerPort": 80, "hostPort": 80}]), "takes the host's port 80"),
    (POD_SECURITY, with_container(livenessProbe__httpGet__host="10.0.0.1"), "asks another host"),
    (RBAC, role(verbs=["*"]), "rules[0].verbs is `*`"),
    (RBAC, role(resources=["pods", "*/scale"]), "rules[0].resources is `*/scale`"),
    (RBAC, role(apiGroups=["*"]), "rules[0].apiGroups is `*`"),
    (RBAC, role(nonResourceURLs=["*"]), "rules[0].nonResourceURLs is `*`"),
    (RBAC, binding("cluster-admin"), "binds cluster-admin"),
    (CLAIMS, deployment(singelton_reason="it would mint keys twice"), "mean flotilla.dev/singleton-reason?"),
    (CLAIMS, deployment(singleton_reason="because"), "gives no reason"),
    (CLAIMS, deployment(singleton_reason=""), "gives no reason"),
]

ACCEPTED: list[tuple[Rule, Manifest]] = [
    *((rule, deployment()) for rule in (REPLICAS, SPREAD, RESOURCES, PROBES, IMAGES, PLAIN_SECRETS)),
    *((rule, deployment()) for rule in (POD_SECURITY, CLAIMS)),
    (REPLICAS, changed(deployment(), spec__replicas=REMOVED)),
    (REPLICAS, changed(deployment(), spec__replicas=UNKNOWN)),
    (REPLICAS, autoscaler(2)),
    (REPLICAS, autoscaler(UNKNOWN)),
    (SPREAD, with_pod(topologySpreadConstraints=UNKNOWN)),
    (SPREAD, with_pod(topologySpreadConstraints__1=UNKNOWN)),
    (SPREAD, with_pod(topologySpreadConstraints__0__labelSelector=UNKNOWN)),
    (SPREAD, with_pod(topologySpreadConstraints__0__whenUnsatisfiable="ScheduleAnyway")),
    (RESOURCES, with_container(resources=UNKNOWN)),
    (RESOURCES, with_container(resources__requests__cpu=UNKNOWN)),
    (RESOURCES, with_container(resources__limits__cpu="1")),
    (RESOURCES, with_pod(containers=UNKNOWN)),
    (PROBES, with_container(livenessProbe=UNKNOWN)),
    (PROBES, with_pod(initContainers=[{"name": "migrate"}])),
    (PROBES, changed(daemon_set(), spec__template__spec__containers__0__livenessProbe=REMOVED)),
    (IMAGES, with_container(image="registry.example:5000/nginx:1.27.1-alpine")),
    (IMAGES, with_container(image="ghcr.io/kubeflow/training-v1/training-operator:v1-93c5489")),
    (IMAGES, with_container(image="nginx@sha256:" + "0" * 64)),
    (IMAGES, with_container(image="nginx:latest@sha256:" + "0" * 64)),
    (IMAGES, with_container(image=UNKNOWN)),
    (PLAIN_SECRETS, with_container(env=[{"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {}}}])),
    (PLAIN_SECRETS, with_container(env=[{"name": "DB_PASSWORD", "value": UNKNOWN}])),
    (PLAIN_SECRETS, with_container(env=[{"name": "DB_PASSWORD", "value": "$(FROM_SECRET)"}])),
    (PLAIN_SECRETS, with_container(env=[{"name": "PASSWORD_FILE", "value": "/var/run/secrets/password"}])),
    (PLAIN_SECRETS, with_container(env=[{"name": "AUTOMOUNT_TOKEN", "value": "true"}])),
    (PLAIN_SECRETS, with_container(env=[{"name": "DSN", "value": "mysql://$(USER):$(PASSWORD)@db:3306"}])),
    (PLAIN_SECRETS, with_container(args=["--webhook-secret-name=training-operator-webhook-cert"])),
    (PLAIN_SECRETS, with_container(args=["--token", "--verbose"])),
    (PLAIN_SECRETS, with_container(args=["--password=$(PASSWORD)", UNKNOWN])),
    (PLAIN_SECRETS, config_map(app="secretName: web-cert\nmode: fast\n", image="registry/web:v1")),
    (PLAIN_SECRETS, config_map(app=UNKNOWN)),
    (PLAIN_SECRETS, secret(data={"password": "Zm9v"}, stringData={"username": "root"})),
    (PLAIN_SECRETS, secret(data={"password": "c2VjdXJl"}) | {SECRET_OUTPUTS: ["data", "stringData"]}),
    (PLAIN_SECRETS, secret(data=UNKNOWN)),
    (POD_SECURITY, with_container(securityContext=UNKNOWN)),
    (POD_SECURITY, with_container(securityContext__capabilities__drop=UNKNOWN)),
    (POD_SECURITY, with_container(securityContext__capabilities__add=["NET_BIND_SERVICE"])),
    (POD_SECURITY, with_container(securityContext__runAsUser=UNKNOWN)),
    (POD_SECURITY, with_container(ports=[{"containerPort": 8080}])),
    (POD_SECURITY, with_pod(securityContext__sysctls=[{"name": "net.ipv4.tcp_rmem"}])),
    (POD_SECURITY, with_pod(volumes=[{"name": "tmp", "emptyDir": {}}, {"name": "w", "hostPath": None}])),
    (RBAC, role()),
    (RBAC, role(verbs=[str(UNKNOWN)])),
    (RBAC, binding("view")),
    (CLAIMS, deployment(singleton_reason="a second replica mints keys twice")),
    (CLAIMS, changed(deployment(), metadata__annotations=UNKNOWN)),
    (CLAIMS, deployment(availability="replicated 2")),
]


@pytest.mark.parametrize(("rule", "manifest", "fault"), REFUSED, ids=lambda value: getattr(value, "name", None))
def test_rule_refuses(rule: Rule, manifest: Manifest, fault: str) -> None:
    faults = rule.check(manifest)

    assert any(fault in each for each in faults), faults


@pytest.mark.parametrize(("rule", "manifest"), ACCEPTED, ids=lambda value: getattr(value, "name", None))
def test_rule_accepts(rule: Rule, manifest: Manifest) -> None:
    assert rule.check(manifest) == []


def test_every_fault_of_every_container_is_found_at_once() -> None:
    bare = container("one") | {"resources": {}}

    faults = RESOURCES.check(with_pod(containers=[bare, bare | {"name": "two"}]))

    assert [fault.split(" has ")[0] for fault in faults] == ["container one", "container two"]


@pytest.mark.parametrize("value", ["hunter22", "AKIAABCDEFGHIJKLMNOP", f"{PEM}abc"])
def test_plain_secrets_never_repeats_the_value(value: str) -> None:
    manifests = [
        config_map(password=value),
        secret(stringData={"password": value}),
        with_container(env=[{"name": "PASSWORD", "value": value}], args=[f"--password={value}"]),
    ]

    faults = [fault for manifest in manifests for fault in PLAIN_SECRETS.check(manifest)]

    assert faults
    assert not any(value in fault for fault in faults)
