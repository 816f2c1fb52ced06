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
