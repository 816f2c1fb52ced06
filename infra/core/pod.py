"""Builds pod templates: restricted by default, spread over zones and hosts, with nothing left to remember."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi_kubernetes as k8s

from infra.core import names
from infra.core.parts import FromField, FromResource, FromSecret
from infra.node_labels import HOST, ZONE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infra.core.parts import Container, EnvironmentValue, Port, Privileges, Probe, Volume
    from infra.settings.models.resources import Resources

DRAIN_SECONDS = 5
"""How long a terminating pod goes on serving, so that endpoints and load balancers forget it first."""


def container(
    name: str, declared: Container, resources: Resources, privileges: Privileges | None
) -> k8s.core.v1.ContainerArgs:
    """Return the container, with security context, probes and resources."""
    probes = declared.probes
    amounts = resources.as_manifest()
    served = any(port.service_port for port in declared.ports)
    return k8s.core.v1.ContainerArgs(
        name=name,
        image=declared.image.reference,
        command=list(declared.command) or None,
        args=list(declared.arguments) or None,
        env=[_variable(key, value) for key, value in declared.environment.items()] or None,
        ports=[
            k8s.core.v1.ContainerPortArgs(name=port.name, container_port=port.number, protocol="TCP")
            for port in declared.ports
        ],
        resources=k8s.core.v1.ResourceRequirementsArgs(requests=amounts["requests"], limits=amounts["limits"]),
        readiness_probe=_probe(probes.readiness) if probes else None,
        liveness_probe=_probe(probes.liveness) if probes and probes.liveness else None,
        startup_probe=_probe(probes.startup) if probes and probes.startup else None,
        lifecycle=k8s.core.v1.LifecycleArgs(
            pre_stop=k8s.core.v1.LifecycleHandlerArgs(sleep=k8s.core.v1.SleepActionArgs(seconds=DRAIN_SECONDS))
        )
        if served
        else None,
        security_context=_container_security(declared, privileges),
        volume_mounts=[
            k8s.core.v1.VolumeMountArgs(
                name=volume.name,
                mount_path=volume.path,
                read_only=volume.read_only,
                mount_propagation="Bidirectional" if volume.shared_mounts else None,
            )
            for volume in declared.volumes
        ]
        or None,
    )


def template(
    name: str,
    declared: Container,
    *,
    labels: Mapping[str, str],
    resources: Resources,
    service_account: str,
    api_access: bool,
    privileges: Privileges | None = None,
    spread: bool = True,
    tolerations: Sequence[k8s.core.v1.TolerationArgs] = (),
    affinity: k8s.core.v1.AffinityArgs | None = None,
    priority: str = names.PLATFORM_PRIORITY,
    runtime_class: str | None = None,
    annotations: Mapping[str, str] | None = None,
    restart_policy: str | None = None,
    init: Container | None = None,
) -> k8s.core.v1.PodTemplateSpecArgs:
    """Return the pod template of a workload.

    Args:
        name: the workload, and its container.
        declared: the container.
        labels: the pods' labels; the selector's are among them.
        resources: requests and limits of the container.
        service_account: the ServiceAccount the pods run as.
        api_access: whether the pods get that account's token.
        privileges: what the pods need beyond the restricted profile.
        spread: whether replicas must lie in different zones and on different hosts.
        tolerations: taints the pods accept.
        affinity: node affinity; prefers the system pool when None.
        priority: the PriorityClass.
        runtime_class: the RuntimeClass, where the nodes' default will not do.
        annotations: annotations of the pods besides what says where their metrics are.
        restart_policy: when the kubelet starts a container again; always when None.
        init: what runs to its end before the container starts; its volumes are among the container's.
    """
    return k8s.core.v1.PodTemplateSpecArgs(
        metadata=k8s.meta.v1.ObjectMetaArgs(
            labels=dict(labels),
            annotations=_scrape(declared.ports) | dict(annotations or {}) or None,
        ),
        spec=k8s.core.v1.PodSpecArgs(
            service_account_name=service_account,
            automount_service_account_token=api_access,
            priority_class_name=priority,
            runtime_class_name=runtime_class,
            restart_policy=restart_policy,
            host_network=True if privileges and privileges.host_network else None,
            security_context=k8s.core.v1.PodSecurityContextArgs(
                run_as_non_root=not (privileges and privileges.run_as_root),
                fs_group=declared.user,
                seccomp_profile=k8s.core.v1.SeccompProfileArgs(type="RuntimeDefault"),
            ),
            init_containers=[container(f"{name}-init", init, resources, privileges)] if init else None,
            containers=[container(name, declared, resources, privileges)],
            volumes=[_volume(volume) for volume in declared.volumes] or None,
            topology_spread_constraints=_spread(names.selector(name)) if spread else None,
            affinity=affinity or _prefer_system_pool(),
            tolerations=list(tolerations) or None,
        ),
    )


def _container_security(declared: Container, privileges: Privileges | None) -> k8s.core.v1.SecurityContextArgs:
    privileged = bool(privileges and privileges.privileged)
    added = list(privileges.capabilities) if privileges else []
    return k8s.core.v1.SecurityContextArgs(
        privileged=True if privileged else None,
        allow_privilege_escalation=None if privileged else False,
        read_only_root_filesystem=not declared.writable_root,
        run_as_non_root=not (privileges and privileges.run_as_root),
        run_as_user=declared.user,
        capabilities=k8s.core.v1.CapabilitiesArgs(drop=["ALL"], add=added or None),
    )


def _spread(selector: Mapping[str, str]) -> list[k8s.core.v1.TopologySpreadConstraintArgs]:
    """Spread strictly, counting only nodes that can be used, so that a lost zone does not block its replacement."""
    return [
        k8s.core.v1.TopologySpreadConstraintArgs(
            max_skew=1,
            topology_key=key,
            when_unsatisfiable="DoNotSchedule",
            node_taints_policy="Honor",
            match_label_keys=["pod-template-hash"],
            label_selector=k8s.meta.v1.LabelSelectorArgs(match_labels=dict(selector)),
        )
        for key in (ZONE, HOST)
    ]


def system_pool_only() -> k8s.core.v1.AffinityArgs:
    """Return the affinity of pods that no other node may run."""
    return k8s.core.v1.AffinityArgs(
        node_affinity=k8s.core.v1.NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=k8s.core.v1.NodeSelectorArgs(
                node_selector_terms=[_system_pool()]
            )
        )
    )


def _prefer_system_pool() -> k8s.core.v1.AffinityArgs:
    return k8s.core.v1.AffinityArgs(
        node_affinity=k8s.core.v1.NodeAffinityArgs(
            preferred_during_scheduling_ignored_during_execution=[
                k8s.core.v1.PreferredSchedulingTermArgs(weight=100, preference=_system_pool())
            ]
        )
    )


def _system_pool() -> k8s.core.v1.NodeSelectorTermArgs:
    return k8s.core.v1.NodeSelectorTermArgs(
        match_expressions=[
            k8s.core.v1.NodeSelectorRequirementArgs(key=names.NODE_PURPOSE, operator="In", values=["system"])
        ]
    )


def _scrape(ports: Sequence[Port]) -> dict[str, str]:
    for port in ports:
        if port.metrics_path:
            return {
                "prometheus.io/scrape": "true",
                "prometheus.io/port": str(port.number),
                "prometheus.io/path": port.metrics_path,
            }
    return {}


def _probe(probe: Probe) -> k8s.core.v1.ProbeArgs:
    return k8s.core.v1.ProbeArgs(
        http_get=k8s.core.v1.HTTPGetActionArgs(path=probe.path, port=probe.port, scheme=probe.scheme),
        initial_delay_seconds=probe.delay_seconds,
        period_seconds=probe.period_seconds,
        failure_threshold=probe.failures,
        timeout_seconds=3,
    )


def _variable(name: str, value: EnvironmentValue) -> k8s.core.v1.EnvVarArgs:
    match value:
        case str():
            return k8s.core.v1.EnvVarArgs(name=name, value=value)
        case FromField(path=path):
            source = k8s.core.v1.EnvVarSourceArgs(
                field_ref=k8s.core.v1.ObjectFieldSelectorArgs(api_version="v1", field_path=path)
            )
        case FromResource(resource=resource):
            source = k8s.core.v1.EnvVarSourceArgs(
                resource_field_ref=k8s.core.v1.ResourceFieldSelectorArgs(resource=resource)
            )
        case FromSecret(secret=secret, key=key):
            source = k8s.core.v1.EnvVarSourceArgs(
                secret_key_ref=k8s.core.v1.SecretKeySelectorArgs(name=secret, key=key)
            )
    return k8s.core.v1.EnvVarArgs(name=name, value_from=source)


def _volume(volume: Volume) -> k8s.core.v1.VolumeArgs:
    optional = True if volume.optional else None
    if volume.secret:
        source = k8s.core.v1.SecretVolumeSourceArgs(secret_name=volume.secret, default_mode=0o440, optional=optional)
        return k8s.core.v1.VolumeArgs(name=volume.name, secret=source)
    if volume.config_map:
        source = k8s.core.v1.ConfigMapVolumeSourceArgs(name=volume.config_map, optional=optional)
        return k8s.core.v1.VolumeArgs(name=volume.name, config_map=source)
    if volume.host_path:
        source = k8s.core.v1.HostPathVolumeSourceArgs(path=volume.host_path, type="DirectoryOrCreate")
        return k8s.core.v1.VolumeArgs(name=volume.name, host_path=source)
    if volume.token_audience:
        token = k8s.core.v1.ServiceAccountTokenProjectionArgs(
            audience=volume.token_audience, expiration_seconds=43200, path=volume.token_path
        )
        source = k8s.core.v1.ProjectedVolumeSourceArgs(
            sources=[k8s.core.v1.VolumeProjectionArgs(service_account_token=token)]
        )
        return k8s.core.v1.VolumeArgs(name=volume.name, projected=source)
    medium = "Memory" if volume.memory else None
    return k8s.core.v1.VolumeArgs(name=volume.name, empty_dir=k8s.core.v1.EmptyDirVolumeSourceArgs(medium=medium))
