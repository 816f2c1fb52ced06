"""How pods get the certificates of the authority that a broker's own certificate comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.core.parts import Volume

if TYPE_CHECKING:
    from infra.settings.models.data.common import CaRef


def ca_volume(ca: CaRef, path: str) -> Volume:
    """Return the volume that shows the authority's certificates in the folder `path`."""
    if ca.kind == "configMap":
        return Volume(name="ca", path=path, config_map=ca.name)
    return Volume(name="ca", path=path, secret=ca.name)
