"""The base of every component."""

from __future__ import annotations

import pulumi


class Component(pulumi.ComponentResource):
    """A named group of resources with a frozen type token `flotilla:<group>:<ClassName>`.

    The token is part of every child's URN: changing it deletes and recreates them. Set `group` in each subclass.
    """

    group: str

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"flotilla:{self.group}:{type(self).__name__}", name, None, opts)

    def child(self, *, depends_on: list[pulumi.Resource] | None = None) -> pulumi.ResourceOptions:
        """Return the options for a child: this component as its parent, and nothing copied from our own options."""
        return pulumi.ResourceOptions(parent=self, depends_on=depends_on)
