"""The `flotilla up` command: from a fresh checkout to a running environment `local`."""

from __future__ import annotations

import os
import time

from ops.console import err, out

ENVIRONMENT = "local"
EXAMPLE = "examples/training/pytorch.yaml"
STEPS = 3


def up() -> None:
    """Bring up the environment `local`: embedded cluster, platform, example job.

    Builds the toolchain where it is missing, starts the cluster, runs `pulumi up` under the policies and submits the
    example PyTorchJob. Run again, it mends what is missing and says what it changed.
    """
    from infra.paths import ROOT, STATE
    from infra.settings import load
    from ops import jobs, live, local_stack, stand_ins, workloads
    from ops.env import environment
    from ops.progress import ConsoleProgress
    from ops.stack import Stack
    from sandbox import demand, nodes, users
    from sandbox.cluster import Sandbox
    from sandbox.tools import Toolchain

    started = time.monotonic()
    settings = load(ENVIRONMENT)
    toolchain = Toolchain.ensure(ConsoleProgress("building"), wanted=demand.modules(settings))
    sandbox = Sandbox(tools=toolchain.bin)
    variables = environment(toolchain)
    os.environ.update(variables)

    cluster = sandbox.up(
        nodes.from_settings(settings), users=users.from_settings(settings), progress=ConsoleProgress("starting")
    )

    with ConsoleProgress("applying").step("the platform with pulumi up", 1, STEPS) as tell:
        local_stack.write_config(ENVIRONMENT, sandbox.context)
        local_stack.release_lost_lock(ENVIRONMENT)
        stack = Stack(ENVIRONMENT, toolchain=toolchain.folder, environment=variables, log=STATE / "pulumi-up.log")
        local_stack.forget_lost_cluster(stack, sandbox)
        tell("schemas of operators that do not run here")
        open_schemas = stand_ins.stand_in(sandbox, settings)
        resources = stack.up(tell)

    with ConsoleProgress("waiting for").step("every replica", 2, STEPS) as tell:
        workloads.wait_ready(sandbox, tell)

    job = jobs.read(ROOT / EXAMPLE)
    with ConsoleProgress("submitting").step(f"the example {job.kind}", 3, STEPS) as tell:
        owner = next(team.owner for team in settings.teams if team.name == job.namespace)
        submitted = jobs.submit(job, kubeconfig=sandbox.kubeconfig, context=f"{sandbox.context}/{owner}")
        jobs.wait_running(job, sandbox, tell)

    live.print_environment(out, settings, sandbox, job)
    if open_schemas:
        err.print(f"no operator acts here on {', '.join(open_schemas)}: their schemas are open", markup=False)
    plural = "resource" if resources == 1 else "resources"
    did = {"the cluster": bool(cluster), f"{resources} {plural}": bool(resources), "the job": submitted}
    changes = ", ".join(name for name, happened in did.items() if happened)
    result = f"changed {changes}" if changes else "nothing to change, all is as declared"
    err.print(f"{ENVIRONMENT} is up after {time.monotonic() - started:.0f} s: {result}", markup=False)
