"""Who a container's process is: user, groups and privileges, from the pod's security settings."""

from __future__ import annotations

from typing import Any, TypedDict

from sandbox.agent.environment import ConfigError

Json = dict[str, Any]

_CAPABILITIES = {
    "CHOWN": 0,
    "DAC_OVERRIDE": 1,
    "FOWNER": 3,
    "FSETID": 4,
    "KILL": 5,
    "SETGID": 6,
    "SETUID": 7,
    "SETPCAP": 8,
    "NET_BIND_SERVICE": 10,
    "NET_RAW": 13,
    "SYS_CHROOT": 18,
    "MKNOD": 27,
    "AUDIT_WRITE": 29,
    "SETFCAP": 31,
}
"""What container runtimes grant by default. Nothing beyond it is granted here: these are processes of the host."""


class Identity(TypedDict):
    """User and group ids and capability numbers, as the launcher takes them."""

    user: int
    group: int
    groups: list[int]
    capabilities: list[int]
    no_new_privileges: bool


def identity(pod: Json, container: Json, image_user: int) -> Identity:
    """Return who a container runs as.

    An agent without root has one user only, its own: it leaves user and groups as they are and applies the rest.

    Raises:
        ConfigError: it must not run as root, but would.
    """
    settings = effective(pod, container)
    user: int = settings.get("runAsUser", image_user)
    if settings.get("runAsNonRoot") and user == 0:
        raise ConfigError("container has runAsNonRoot and would run as root")
    groups = [*settings.get("supplementalGroups", [])]
    if "fsGroup" in settings:
        groups.append(settings["fsGroup"])
    return Identity(
        user=user,
        group=settings.get("runAsGroup", 0 if "runAsUser" in settings else user),
        groups=sorted(set(groups)),
        capabilities=sorted(_capabilities(settings.get("capabilities", {}))),
        no_new_privileges=settings.get("allowPrivilegeEscalation") is False,
    )


def effective(pod: Json, container: Json) -> Json:
    """Return a container's security settings; its own win over the pod's."""
    return {**pod["spec"].get("securityContext", {}), **container.get("securityContext", {})}


def _capabilities(change: Json) -> set[int]:
    dropped = {name.removeprefix("CAP_") for name in change.get("drop", [])}
    kept = set() if "ALL" in dropped else set(_CAPABILITIES) - dropped
    kept |= {name.removeprefix("CAP_") for name in change.get("add", [])} & set(_CAPABILITIES)
    return {_CAPABILITIES[name] for name in kept}
