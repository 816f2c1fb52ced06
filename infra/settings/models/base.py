"""What all sections have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Section(BaseModel):
    """A map of the values files: camelCase keys, none unknown, each of exactly its type, immutable."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        serialize_by_alias=True,
        use_attribute_docstrings=True,
    )
