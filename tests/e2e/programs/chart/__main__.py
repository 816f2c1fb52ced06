"""Installs one chart, as the environment of the test says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pulumi

from infra.core.chart import Chart, ChartArgs
from infra.core.chart_archive import fetched
from infra.core.chart_source import ChartSource
from infra.core.ownership import own_declared_fields
from infra.core.provider import cluster_provider
from infra.errors import FlotillaError

wanted = json.loads(os.environ["CHART"])
own_declared_fields()
provider = cluster_provider(pulumi.Config("flotilla").require("context"))
args = ChartArgs(
    source=ChartSource(**wanted["source"]), namespace=wanted["namespace"], part_of="fleet", values=wanted["values"]
)
try:
    with fetched(Path(wanted["folder"])):
        Chart("boats", args, opts=pulumi.ResourceOptions(provider=provider))
except FlotillaError as error:
    raise pulumi.RunError(str(error)) from error
