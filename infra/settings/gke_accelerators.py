"""What GKE calls the GPUs that NVIDIA's feature discovery reports."""

from __future__ import annotations

NAMES = {
    "NVIDIA-A100-SXM4-40GB": "nvidia-tesla-a100",
    "NVIDIA-A100-SXM4-80GB": "nvidia-a100-80gb",
    "NVIDIA-B200": "nvidia-b200",
    "NVIDIA-H100-80GB-HBM3": "nvidia-h100-80gb",
    "NVIDIA-H100-MEGA-80GB-HBM3": "nvidia-h100-mega-80gb",
    "NVIDIA-H200": "nvidia-h200-141gb",
    "NVIDIA-L4": "nvidia-l4",
    "Tesla-T4": "nvidia-tesla-t4",
    "Tesla-V100-SXM2-16GB": "nvidia-tesla-v100",
}
"""By product. Source: https://cloud.google.com/kubernetes-engine/docs/concepts/gpus."""
