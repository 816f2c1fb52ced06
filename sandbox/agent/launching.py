"""Turns a declared container into what the launcher inside the pod takes."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from sandbox.agent.api import ApiError
from sandbox.agent.context import PodContext
from sandbox.agent.environment import (
    ConfigError,
    command_line,
    environment,
    service_variables,
)
from sandbox.agent.filesystem import plan
from sandbox.agent.images import PATH, PROCESS_IMAGES, ProcessImage, repository
from sandbox.agent.security import effective, identity

Json = dict[str, Any]


class ImageError(Exception):
    """The image has no program on this machine."""


def find_program(reference: str, tools: Path) -> tuple[ProcessImage, Path]:
    """Return what an image is made of, and its program on this machine.

    Raises:
        ImageError: it is missing.
    """
    image = PROCESS_IMAGES.get(repository(reference))
    if image is None:
        raise ImageError(f"image {reference} does not run as a process")
    program = image.program(tools)
    if program is None:
        raise ImageError(
            f"image {reference} runs as the program {image.tool}, which is neither in {tools} nor on PATH; "
            "build it with `flotilla toolchain build`"
        )
    return image, program


def launch_spec(context: PodContext, container: Json) -> Json:
    """Return what to start for a container. It blocks; call it in a thread.

    Raises:
        ConfigError: something the container refers to does not exist, or it may not run like this.
        ImageError: its program is missing.
    """
    image, program = find_program(container["image"], context.tools)
    who = identity(context.pod, container, image.user)
    variables = _variables(context, container, image)
    context.folder.fresh_termination_message(container["name"])
    return {
        "join": 0,
        "root": str(context.folder.root),
        "entries": plan(container, image, program, context.folder, context.volumes),
        "read_only": effective(context.pod, container).get("readOnlyRootFilesystem", False),
        "folder": container.get("workingDir") or "/",
        "identity": who,
        "one_user": context.namespace.one_user,
        "arguments": command_line(container, image.entrypoint, variables),
        "environment": variables,
    }


def _variables(context: PodContext, container: Json, image: ProcessImage) -> dict[str, str]:
    pod, namespace = context.pod, context.pod["metadata"]["namespace"]
    node_name = pod["spec"]["nodeName"]
    links = service_variables(_linked_services(context))
    status = {**pod.get("status", {}), "podIP": context.address}
    status["hostIP"] = context.cluster.host_address(node_name)
    try:
        declared = environment(
            {**pod, "status": status},
            container,
            services=links,
            lookup=lambda kind, name: _data(context, kind, namespace, name),
            node=context.cluster.node(node_name),
        )
    except ApiError as error:
        raise ConfigError(str(error)) from error
    return {"PATH": PATH, "HOME": "/", "HOSTNAME": hostname(pod), **image.environment, **declared}


def hostname(pod: Json) -> str:
    """Return a pod's host name."""
    return (pod["spec"].get("hostname") or pod["metadata"]["name"])[:63].rstrip("-.")


def _linked_services(context: PodContext) -> list[Json]:
    pod = context.pod
    services = [
        service for service in context.cluster.services("default") if service["metadata"]["name"] == "kubernetes"
    ]
    if pod["spec"].get("enableServiceLinks", True):
        services += context.cluster.services(pod["metadata"]["namespace"])
    return services


def _data(context: PodContext, kind: str, namespace: str, name: str) -> dict[str, str] | None:
    item = context.cluster.read(kind, namespace, name)
    return None if item is None else text_data(kind, item)


def text_data(kind: str, item: Json) -> dict[str, str]:
    """Return the data of a ConfigMap or Secret as text."""
    data: dict[str, str] = item.get("data") or {}
    if kind == "ConfigMap":
        return data
    return {key: _decoded(value) for key, value in data.items()}


def _decoded(value: str) -> str:
    return base64.b64decode(value).decode(errors="surrogateescape")
