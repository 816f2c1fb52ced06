"""The command `python -m bench`, which `make bench` runs."""

from __future__ import annotations

import shlex
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from infra.errors import FlotillaError
from infra.paths import ROOT, STATE
from ops.console import err, out

PAGE = ROOT / "docs" / "reference" / "benchmarks.md"
FOLDER = STATE / "bench"
ENVIRONMENT = "local"
SMALLEST = 2
QUICK_SIZES = "200"


def bench(
    sizes: Annotated[str, typer.Option(help="Numbers of objects, separated by commas.")] = "200,1000",
    repeat: Annotated[int, typer.Option(min=1, help="Rounds per case, at most; long cases get fewer.")] = 3,
    quick: Annotated[bool, typer.Option("--quick", help=f"One round, {QUICK_SIZES} objects at most.")] = False,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The page to write.")] = PAGE,
) -> None:
    """Measure `pulumi` against `kubectl` on the same objects and write the table into the docs.

    Starts clusters of its own and ends them; a running environment stays untouched.
    """
    from bench import cases, measure, report
    from bench.bed import prepared
    from bench.conditions import conditions
    from ops.progress import ConsoleProgress
    from sandbox.tools import Toolchain

    counts = _numbers(QUICK_SIZES if quick else sizes)
    rounds = 1 if quick else repeat
    toolchain = Toolchain.ensure(ConsoleProgress("building"))
    begun = conditions(shlex.join(["python", "-m", "bench", *sys.argv[1:]]), toolchain)
    chosen = [
        cases.environment(ENVIRONMENT),
        *(cases.many(count, default_limits=count == max(counts)) for count in counts),
        cases.schemas(),
    ]
    progress = ConsoleProgress("measuring")
    total = len(chosen) + 1
    measured: list[report.Measured] = []
    with prepared(FOLDER, toolchain):
        with progress.step("nothing yet, only warming up", 1, total) as tell:
            measure.measure(cases.many(SMALLEST, default_limits=False), toolchain, FOLDER, repeat=1, tell=tell)
        for index, case in enumerate(chosen, start=2):
            with progress.step(case.title, index, total) as tell:
                measured.append(measure.measure(case, toolchain, FOLDER, repeat=rounds, tell=tell))
    text = report.page(begun, measured)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    out.print(text, markup=False)
    err.print(f"written to {output}", markup=False)


def main() -> None:
    """Run the command; a FlotillaError becomes one line, and every way to end it ends its clusters."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None, add_completion=False)
    app.command()(bench)
    try:
        app(prog_name="python -m bench")
    except FlotillaError as error:
        err.print(f"error: {error}", markup=False)
        sys.exit(1)


def _numbers(text: str) -> list[int]:
    try:
        numbers = sorted({int(part) for part in text.split(",")})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < SMALLEST or any(number % 2 for number in numbers):
        raise FlotillaError(
            f"{text!r} is no list of even numbers", where="--sizes", remedy="Write for example --sizes 200,1000"
        )
    return numbers


if __name__ == "__main__":
    main()
