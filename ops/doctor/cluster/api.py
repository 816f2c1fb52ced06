"""A Kubernetes API server, asked for plain data, each answer within the doctor's timeout."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, cast

from kubernetes import config
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from infra.core.crds.cluster import Cluster
from ops.doctor.patience import patience

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubernetes.client import ApiClient

NOT_FOUND = 404


class KubeError(Exception):
    """The API server refused a request, or could not be asked.

    Args:
        status: HTTP status; 0 where there was no answer.
        reason: why, in one line.
    """

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        super().__init__(reason)


class KubeApi:
    """The API server of a kubeconfig context.

    Args:
        context: name of the context, in the files of `KUBECONFIG` or in `~/.kube/config`.
        timeout: seconds that one answer may take.

    Raises:
        FlotillaError: there is no such context.
    """

    def __init__(self, context: str, timeout: float) -> None:
        with Cluster(context):
            pass  # it says what is wrong with a kubeconfig
        files = os.environ.get("KUBECONFIG") or "~/.kube/config"
        self._client: ApiClient = config.new_client_from_config(
            config_file=files, context=context, persist_config=False
        )
        self._client.configuration.retries = 0
        self._client.rest_client.pool_manager.connection_pool_kw["retries"] = 0
        self._patience = patience(timeout)

    @property
    def server(self) -> str:
        """Return the address of the API server."""
        return str(self._client.configuration.host)

    def get(self, path: str) -> dict[str, Any]:
        """Return the object or list at a path.

        Raises:
            KubeError: it was refused.
        """
        return self._send("GET", path, None)[0]

    def head_date(self, path: str) -> str | None:
        """Return the Date header of the answer at a path."""
        headers = self._send("GET", path, None)[1]
        return next((value for name, value in headers.items() if name.lower() == "date"), None)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send an object to a path and return the answer.

        Raises:
            KubeError: it was refused.
        """
        return self._send("POST", path, body)[0]

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> tuple[dict[str, Any], Mapping[str, str]]:
        request = self._client.param_serialize(
            method,
            path,
            header_params={"Accept": "application/json", "Content-Type": "application/json"},
            auth_settings=["BearerToken"],
        )
        try:
            response = self._client.call_api(
                request[0], request[1], request[2], body, None, (self._patience, self._patience)
            )
            content = cast("bytes", response.read())
        except (HTTPError, ApiException) as error:
            cause = getattr(error, "reason", None) or error
            raise KubeError(0, " ".join(str(cause).rpartition(": ")[2].split())) from error
        if response.status >= 400:
            raise KubeError(int(response.status), _message(content))
        try:
            return json.loads(content), cast("Mapping[str, str]", response.getheaders())
        except ValueError as error:
            raise KubeError(0, "it does not answer as a Kubernetes API server") from error


def _message(content: bytes) -> str:
    try:
        return str(json.loads(content).get("message", ""))
    except (ValueError, AttributeError):
        return ""
