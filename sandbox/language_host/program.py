"""Run by a program's own Python: connects the SDK to the engine and runs the program in a stack."""

import argparse
import asyncio
import logging
import os
import runpy
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REPORTED = 32
"""Exit code for: the user has seen what went wrong, say no more."""

_MISSING_SDK = "The Pulumi SDK is not installed in {}: install the program's packages there"


def main() -> int:
    """Run the program named on the command line; return the exit code."""
    try:
        import pulumi
    except ImportError:
        sys.stderr.write(_MISSING_SDK.format(sys.prefix) + "\n")
        return 1
    options = _options()
    _configure(options)
    sys.argv = [options.program, *options.arguments]
    os.chdir(options.pwd)
    program = Path(options.program).absolute()
    if program.is_dir() and not (program / "__main__.py").is_file():
        pulumi.log.error(f"{program} has no __main__.py to run")
        return REPORTED
    try:
        _run(program, options.parallel)
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return REPORTED
    except Exception as error:
        pulumi.log.error("Program failed with an unhandled exception:\n" + _traceback(error, program))
        return REPORTED
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for name in ("monitor", "engine", "project", "stack", "organization", "root_directory", "pwd", "dry_run"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--parallel", type=int, required=True)
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser.parse_args()


def _configure(options: argparse.Namespace) -> None:
    from pulumi import runtime

    runtime.set_all_config(runtime.get_config_env(), runtime.get_config_secret_keys_env())
    runtime.configure(
        runtime.Settings(
            monitor=options.monitor,
            engine=options.engine,
            project=options.project,
            stack=options.stack,
            parallel=options.parallel,
            dry_run=options.dry_run == "true",
            organization=options.organization,
            root_directory=options.root_directory,
        )
    )


def _run(program: Path, parallel: int) -> None:
    from pulumi import runtime

    def declare() -> None:
        runpy.run_path(str(program), run_name="__main__")

    # A program that fails leaves futures unfinished; asyncio's complaints about them would hide the failure.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        with ThreadPoolExecutor(max_workers=max(parallel, 1) * 4) as executor:
            loop.set_default_executor(executor)
            loop.run_until_complete(runtime.run_in_stack(declare))
    finally:
        loop.close()
        sys.stdout.flush()
        sys.stderr.flush()


def _traceback(error: BaseException, program: Path) -> str:
    """Return the traceback from the program's own first frame on."""
    folder = program if program.is_dir() else program.parent
    frame = error.__traceback__
    while frame is not None and not Path(frame.tb_frame.f_code.co_filename).is_relative_to(folder):
        frame = frame.tb_next
    return "".join(traceback.format_exception(type(error), error, frame or error.__traceback__))


if __name__ == "__main__":
    sys.exit(main())
