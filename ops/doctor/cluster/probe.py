"""One Kubernetes cluster, and what its refusals mean."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from ops.doctor.check import Verdict, fail
from ops.doctor.cluster.api import KubeError

if TYPE_CHECKING:
    from ops.doctor.cluster.api import KubeApi
    from ops.doctor.cluster.target import ClusterTarget
    from ops.doctor.secret import Secret

_UNAUTHORIZED, _FORBIDDEN = 401, 403


class ClusterProbe:
    """A cluster.

    Args:
        target: the target.
        api: its API server.
    """

    def __init__(self, target: ClusterTarget, api: KubeApi) -> None:
        self.target = target
        self.api = api
        self.secrets: frozenset[Secret] = frozenset()

    @property
    def subject(self) -> str:
        """Return what the cluster is called in findings."""
        return f"cluster {self.target.context}"

    @cached_property
    def nodes(self) -> list[dict[str, Any]]:
        """Return the cluster's nodes."""
        return self.api.get("/api/v1/nodes")["items"]

    def explain(self, error: Exception) -> Verdict | None:
        """Return what a refusal means."""
        if not isinstance(error, KubeError):
            return None
        if error.status == _UNAUTHORIZED:
            return fail("the API server does not accept the credentials of the kubeconfig", run="Log in again")
        if error.status == _FORBIDDEN:
            _, _, denial = str(error).rpartition("is forbidden: ")
            return fail(f"the API server refuses: {denial}", run="Use a context that may, or ask for that permission")
        return fail(
            f"the API server at {self.api.server} cannot be asked ({error})",
            run="Start the cluster, or correct the context's server and certificate authority",
        )

    def close(self) -> None:
        """Close all connections."""
        self.api.close()
