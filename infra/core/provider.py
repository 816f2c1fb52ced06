"""The only place where a connection to a cluster is made."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s

CLIENT_QPS = 2000
CLIENT_BURST = 4000
"""Requests a second, and in a burst, the provider may send. The API server's own fairness limits it; the provider's
default of 120 makes a thousand objects four times slower to refresh (docs/reference/benchmarks.md)."""


def cluster_provider(context: str) -> k8s.Provider:
    """Return the provider of the stack's cluster, named by its kubeconfig context and never by the ambient one.

    ConfigMaps and Secrets are updated in place: replaced, those with fixed names would be gone for a moment, under the
    controllers that watch them.

    Args:
        context: a context of the kubeconfig that `KUBECONFIG` or the default location names.
    """
    return k8s.Provider(
        "cluster",
        context=context,
        enable_server_side_apply=True,
        enable_config_map_mutable=True,
        enable_secret_mutable=True,
        kube_client_settings=k8s.KubeClientSettingsArgs(qps=CLIENT_QPS, burst=CLIENT_BURST, timeout=60),
        opts=pulumi.ResourceOptions(),
    )
