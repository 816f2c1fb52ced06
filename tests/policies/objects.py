"""Objects that meet every rule, and ways to spoil them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Object = dict[str, Any]

REMOVED = object()
"""As a value for `changed`: take the key away."""

LABELS = {"app.kubernetes.io/name": "web"}


def container(name: str = "web") -> Object:
    probe = {"httpGet": {"path": "/healthz", "port": 8081}}
    return {
        "name": name,
        "image": "ghcr.io/flotilla/web:v1.2.3",
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "readinessProbe": probe,
        "livenessProbe": probe,
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }


def template() -> Object:
    return {
        "metadata": {"labels": dict(LABELS)},
        "spec": {
            "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [container()],
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": key,
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": dict(LABELS)},
                }
                for key in ("topology.kubernetes.io/zone", "kubernetes.io/hostname")
            ],
        },
    }


def metadata(name: str = "web", **annotations: str) -> Object:
    stated = {f"flotilla.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {"name": name, "namespace": "kubeflow", "annotations": stated}


def deployment(name: str = "web", **annotations: str) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(name, **annotations),
        "spec": {"replicas": 2, "selector": {"matchLabels": dict(LABELS)}, "template": template()},
    }


def daemon_set(**annotations: str) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata("agent", **annotations),
        "spec": {"template": template()},
    }


def cron_job() -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": metadata("tidy"),
        "spec": {"jobTemplate": {"spec": {"template": template()}}},
    }


def budget(name: str = "web", **spec: Any) -> Object:
    limits = spec or {"maxUnavailable": 1}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(name),
        "spec": {"selector": {"matchLabels": dict(LABELS)}} | limits,
    }


def autoscaler(floor: Any = 2, target: str = "web") -> Object:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata(target),
        "spec": {
            "minReplicas": floor,
            "maxReplicas": 5,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": target},
        },
    }


def role(**rule: list[str]) -> Object:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "web"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]} | rule],
    }


def binding(bound: str) -> Object:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "web"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": bound},
    }


def config_map(**data: Any) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("settings"), "data": data}


def secret(**content: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata("login")} | content


def changed(manifest: Object, **changes: Any) -> Object:
    """Return a copy with the values at dotted paths (`__` for `.`) replaced, added or REMOVED."""
    copy = deepcopy(manifest)
    for path, value in changes.items():
        *way, last = path.split("__")
        parent: Any = copy
        for step in way:
            parent = parent[int(step)] if step.isdigit() else parent.setdefault(step, {})
        if value is REMOVED:
            del parent[int(last) if last.isdigit() else last]
        else:
            parent[int(last) if last.isdigit() else last] = value
    return copy


def with_pod(**changes: Any) -> Object:
    """Return a Deployment with its pod's spec changed."""
    return changed(deployment(), **{f"spec__template__spec__{path}": value for path, value in changes.items()})


def with_container(**changes: Any) -> Object:
    """Return a Deployment with its container changed."""
    return with_pod(**{f"containers__0__{path}": value for path, value in changes.items()})
