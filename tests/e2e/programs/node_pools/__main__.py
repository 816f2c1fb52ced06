"""The platform's autoscaler and training operator, on the cluster that a settings file describes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pulumi

from infra.components.cluster.foundation import Foundation
from infra.components.cluster.node_pools.component import NodePools, NodePoolsArgs
from infra.components.ml.training import TrainingOperator, TrainingOperatorArgs
from infra.core.namespace import Namespace
from infra.core.ownership import own_declared_fields
from infra.core.provider import cluster_provider
from infra.settings import load
from infra.settings.models.autoscaler import Karpenter
from infra.settings.models.node_pools import NodePool
from infra.settings.models.training import TrainingOperatorSettings

SETTINGS = "NODE_POOLS_SETTINGS"
"""Variable that names the settings file."""

SMALL = {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}}


def declare(settings: dict[str, Any]) -> None:
    """Declare what the settings describe: region, zones, pools and autoscaler."""
    own_declared_fields()
    context = pulumi.Config("flotilla").require("context")
    opts = pulumi.ResourceOptions(provider=cluster_provider(context))
    foundation = Foundation("foundation", opts=opts)
    kubeflow = Namespace("kubeflow", part_of="ml", opts=opts)
    after = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=foundation.ready))
    training = {
        "replicas": 2,
        "resources": SMALL,
        "threads": 2,
        "qps": 100,
        "burst": 100,
    }
    TrainingOperator(
        "training",
        TrainingOperatorArgs(
            settings=TrainingOperatorSettings.model_validate_json(json.dumps(training)),
            namespace=kubeflow.name,
            context=context,
        ),
        opts=after,
    )
    NodePools(
        "node-pools",
        NodePoolsArgs(
            pools=[NodePool.model_validate_json(json.dumps(pool)) for pool in settings["nodePools"]],
            autoscaler=Karpenter.model_validate_json(json.dumps(settings["autoscaler"])),
            gpu=load("local").cluster.gpu,
            region=settings["region"],
            zones=settings["zones"],
            context=context,
        ),
        opts=after,
    )


declare(json.loads(Path(os.environ[SETTINGS]).read_text(encoding="utf-8")))
