"""The whole platform, in the environment that a test's own values describe."""

from __future__ import annotations

import os
from pathlib import Path

import pulumi

from infra.core.chart_archive import fetched
from infra.core.ownership import own_declared_fields
from infra.errors import FlotillaError
from infra.kubeflow import declare
from infra.settings import load

FOLDER = "QUEUES_FOLDER"
"""Variable that names the folder of the test's values, where charts are kept, too."""


def main(folder: Path) -> None:
    """Declare the environment `queues` of these values."""
    own_declared_fields()
    try:
        with fetched(folder / "charts"):
            declare(load("queues", folder / "values"), pulumi.Config("flotilla").require("context"))
    except FlotillaError as error:
        raise pulumi.RunError(str(error)) from error


main(Path(os.environ[FOLDER]))
