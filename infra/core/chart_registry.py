"""Charts in OCI registries: where an archive lies, and the token that even public registries want."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from infra.core.chart_source import SCHEME

if TYPE_CHECKING:
    import httpx

    from infra.core.chart_source import ChartSource

LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
"""Media type of the layer that is a chart's archive."""

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_UNAUTHORIZED = 401


def reference(source: ChartSource) -> str:
    """Return the chart's address in its registry, without its version."""
    return f"{source.repository.rstrip('/')}/{source.chart}"


def archive_digest(client: httpx.Client, source: ChartSource) -> str | None:
    """Return the digest of a version's archive, as the registry's manifest names it; None where it has no archive.

    Raises:
        httpx.HTTPError: the registry does not answer, or knows no such version.
    """
    answer = _get(client, f"{_base(source)}/manifests/{source.version.replace('+', '_')}", accept=_MANIFEST)
    layers = cast("list[dict[str, Any]]", answer.json().get("layers", []))
    return next((layer["digest"] for layer in layers if layer["mediaType"] == LAYER), None)


def archive(client: httpx.Client, source: ChartSource) -> bytes:
    """Return the archive of the pinned digest.

    Raises:
        httpx.HTTPError: the registry does not answer, or has no such archive.
    """
    return _get(client, f"{_base(source)}/blobs/{source.digest}", accept="*/*").content


def _base(source: ChartSource) -> str:
    host, _, name = reference(source).removeprefix(SCHEME).partition("/")
    return f"https://{host}/v2/{name}"


def _get(client: httpx.Client, address: str, *, accept: str) -> httpx.Response:
    """Return what lies at an address, with a token for anybody where the registry asks for one."""
    headers = {"Accept": accept}
    answer = client.get(address, headers=headers)
    if answer.status_code == _UNAUTHORIZED:
        asked = dict(re.findall(r'(\w+)="([^"]*)"', answer.headers.get("www-authenticate", "")))
        if realm := asked.pop("realm", None):
            token = client.get(realm, params=asked).raise_for_status().json()
            bearer = token.get("token") or token.get("access_token")
            answer = client.get(address, headers={**headers, "Authorization": f"Bearer {bearer}"})
    return answer.raise_for_status()
