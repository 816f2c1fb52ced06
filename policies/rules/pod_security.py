"""Pods meet the restricted pod security standard.

Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/ as of Kubernetes 1.36.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.exemptions import PRIVILEGED
from policies.manifest import UNKNOWN, dig, items, mapping
from policies.pods import POD_KINDS, Container, containers, pod
from policies.rule import Rule

if TYPE_CHECKING:
    from policies.manifest import Manifest

VOLUMES = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
)
SAFE_SYSCTLS = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    }
)
SELINUX_TYPES = frozenset({"container_t", "container_init_t", "container_kvm_t", "container_engine_t", ""})
_HANDLERS = (
    ("livenessProbe",),
    ("readinessProbe",),
    ("startupProbe",),
    ("lifecycle", "postStart"),
    ("lifecycle", "preStop"),
)


def check(manifest: Manifest) -> list[str]:
    """Refuse what the restricted standard refuses, naming each field."""
    spec = dig(pod(manifest), "spec")
    faults = [*_pod(spec), *_context("pod", dig(spec, "securityContext"))]
    for container in containers(manifest):
        faults += _container(container, spec)
    return faults


def _pod(spec: object) -> list[str]:
    shared = [f"pod shares {field}" for field in ("hostNetwork", "hostPID", "hostIPC") if dig(spec, field) is True]
    sysctls = [str(dig(each, "name")) for each in items(dig(spec, "securityContext", "sysctls"))]
    volumes = [
        (dig(volume, "name"), kind)
        for volume in items(dig(spec, "volumes"))
        for kind, source in mapping(volume).items()
        if kind != "name" and source is not None
    ]
    return [
        *shared,
        *(f"pod sets the unsafe sysctl {name}" for name in sysctls if name not in SAFE_SYSCTLS),
        *(f"volume {name} is of kind {kind}" for name, kind in volumes if kind not in VOLUMES),
    ]


def _container(container: Container, spec: object) -> list[str]:
    context = dig(container.spec, "securityContext")
    if UNKNOWN in (context, dig(spec, "securityContext")):
        return []
    faults: list[str] = []
    if dig(context, "privileged") is True:
        faults.append("is privileged")
    if dig(context, "allowPrivilegeEscalation") not in (False, UNKNOWN):
        faults.append("does not set allowPrivilegeEscalation: false")
    if _effective(context, spec, "runAsNonRoot") not in (True, UNKNOWN):
        faults.append("does not set runAsNonRoot: true")
    if _effective(context, spec, "seccompProfile", "type") not in ("RuntimeDefault", "Localhost", UNKNOWN):
        faults.append("sets no seccompProfile (RuntimeDefault)")
    faults += _capabilities(dig(context, "capabilities"))
    if dig(context, "procMount") not in (None, "Default", UNKNOWN):
        faults.append("changes procMount")
    ports = [dig(port, "hostPort") for port in items(dig(container.spec, "ports"))]
    faults += [f"takes the host's port {port}" for port in ports if port not in (None, 0, UNKNOWN)]
    faults += [
        f"{handler[-1]} asks another host"
        for handler in _HANDLERS
        for action in ("httpGet", "tcpSocket")
        if dig(container.spec, *handler, action, "host") not in (None, "", UNKNOWN)
    ]
    return [f"{container.label} {fault}" for fault in faults] + _context(container.label, context)


def _effective(context: object, spec: object, *path: str) -> object:
    """Return a field of the container's security context, or the pod's where the container has none."""
    own = dig(context, *path)
    return dig(spec, "securityContext", *path) if own is None else own


def _capabilities(capabilities: object) -> list[str]:
    dropped, added = dig(capabilities, "drop"), dig(capabilities, "add")
    faults: list[str] = []
    if dropped is not UNKNOWN and UNKNOWN not in items(dropped) and "ALL" not in items(dropped):
        faults.append("does not drop ALL capabilities")
    if extra := [str(each) for each in items(added) if each not in ("NET_BIND_SERVICE", UNKNOWN)]:
        faults.append(f"adds the capability {', '.join(extra)}")
    return faults


def _context(label: str, context: object) -> list[str]:
    """Return the faults that a pod's and a container's security context may share."""
    faults: list[str] = []
    if dig(context, "runAsUser") == 0:
        faults.append(f"{label} runs as root (runAsUser: 0)")
    profile = dig(context, "appArmorProfile", "type")
    if profile not in (None, "RuntimeDefault", "Localhost", UNKNOWN):
        faults.append(f"{label} runs without AppArmor")
    selinux = dig(context, "seLinuxOptions")
    if dig(selinux, "type") not in (None, UNKNOWN, *SELINUX_TYPES) or not all(
        dig(selinux, field) in (None, "", UNKNOWN) for field in ("user", "role")
    ):
        faults.append(f"{label} changes its SELinux user, role or type")
    if dig(context, "windowsOptions", "hostProcess") is True:
        faults.append(f"{label} is a Windows host process")
    return faults


POD_SECURITY = Rule(
    name="pod-security",
    title="Pods meet the restricted pod security standard.",
    why=(
        "What a broken-into program may do is what its pod may do: root, capabilities, the host's files and "
        "namespaces are the way from one container to the node and its other pods."
    ),
    remedy=(
        "Set the field as the restricted standard asks, or say what of the node the workload needs in "
        f"{PRIVILEGED.annotation}"
    ),
    kinds=POD_KINDS,
    exemptions=(PRIVILEGED,),
    check=check,
)
