"""The engine's requests, answered: what a program needs, running it, running its policy packs."""

# The engine's protocol fixes the names and parameters of methods.
# ruff: noqa: N802, ARG002

from __future__ import annotations

import json
import os
import subprocess
from contextlib import ExitStack, contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from sandbox.language_host import children, interpreters

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from sandbox.language_host.children import Children
    from sandbox.language_host.interpreters import Interpreter

_HERE = Path(__file__).resolve().parent
_REPORTED = 32
_OFFICIAL_ONLY = "needs the official pulumi-language-python: install Pulumi and put it first on PATH"


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Runs Python programs and plugins for the engine at `engine`.

    Args:
        engine: the engine's address, which programs report to.
        running: keeps track of the processes started.
    """

    def __init__(self, engine: str, running: Children) -> None:
        self._engine = engine
        self._running = running

    def Handshake(self, request: language_pb2.LanguageHandshakeRequest, context: grpc.ServicerContext):
        """Accept the engine."""
        self._engine = request.engine_address or self._engine
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext):
        """Name the SDK's version as the host's own."""
        return plugin_pb2.PluginInfo(version=metadata.version("pulumi"))

    def GetRequiredPackages(self, request: language_pb2.GetRequiredPackagesRequest, context: grpc.ServicerContext):
        """Name the provider plugins of the SDKs that the program's Python has."""
        needed = [
            plugin_pb2.PackageDependency(
                kind="resource", name=each["name"], version=each["version"], server=each["server"]
            )
            for each in _plugins(request.info, context)
        ]
        return language_pb2.GetRequiredPackagesResponse(packages=needed)

    def GetRequiredPlugins(self, request: language_pb2.GetRequiredPluginsRequest, context: grpc.ServicerContext):
        """Answer as GetRequiredPackages, for callers that know only plugins."""
        needed = [
            plugin_pb2.PluginDependency(
                kind="resource", name=each["name"], version=each["version"], server=each["server"]
            )
            for each in _plugins(request.info, context)
        ]
        return language_pb2.GetRequiredPluginsResponse(plugins=needed)

    def About(self, request: language_pb2.AboutRequest, context: grpc.ServicerContext):
        """Name the Python that programs run on."""
        python = _interpreter(request.info, context)
        return language_pb2.AboutResponse(
            executable=str(python.python), version=str(_probe(python, context)["version"])
        )

    def GetProgramDependencies(
        self, request: language_pb2.GetProgramDependenciesRequest, context: grpc.ServicerContext
    ):
        """List the packages of the program's Python; unless transitive, those no other package asks for."""
        found = _probe(_interpreter(request.info, context), context)["packages"]
        return language_pb2.GetProgramDependenciesResponse(
            dependencies=[
                language_pb2.DependencyInfo(name=package["name"], version=package["version"])
                for package in found
                if package["direct"] or request.transitiveDependencies
            ]
        )

    def RuntimeOptionsPrompts(self, request: language_pb2.RuntimeOptionsRequest, context: grpc.ServicerContext):
        """Ask nothing."""
        return language_pb2.RuntimeOptionsResponse()

    def InstallDependencies(
        self, request: language_pb2.InstallDependenciesRequest, context: grpc.ServicerContext
    ) -> Iterator[language_pb2.InstallDependenciesResponse]:
        """Create the program's virtual environment if it names one, and install its requirements.txt there."""
        folder = Path(request.info.program_directory or request.directory)
        requirements = _requirements(folder)
        for command in _installation(request.info, requirements, context):
            with self._process(context, command, str(folder), os.environ, piped=True) as process:
                for stream, chunk in children.output_of(process):
                    yield language_pb2.InstallDependenciesResponse(**{stream: chunk})
                if code := process.wait():
                    context.abort(grpc.StatusCode.INTERNAL, f"`{' '.join(command)}` ended with exit code {code}")

    def Run(self, request: language_pb2.RunRequest, context: grpc.ServicerContext):
        """Run a program; its output goes where the host's goes, which is the engine."""
        python = _interpreter(request.info, context)
        environment = python.environment(os.environ) | {
            "PULUMI_CONFIG": json.dumps(dict(request.config)),
            "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
        }
        command = [str(python.python), "-P", "-u", str(_HERE / "program.py"), *self._program_arguments(request)]
        with self._process(context, command, request.pwd, environment, piped=False) as process:
            code = process.wait()
        if code == _REPORTED:
            return language_pb2.RunResponse(bail=True)
        return language_pb2.RunResponse(error=_describe(code))

    def RunPlugin(
        self, request: language_pb2.RunPluginRequest, context: grpc.ServicerContext
    ) -> Iterator[language_pb2.RunPluginResponse]:
        """Run a plugin written in Python, streaming what it writes; the last message is its exit code."""
        python = _interpreter(request.info, context)
        given = dict(entry.split("=", 1) for entry in request.env if "=" in entry)
        environment = python.environment(given or os.environ)
        program = Path(request.info.program_directory, request.info.entry_point)
        if request.kind == "analyzer":
            what = ["-m", "pulumi.policy", *request.args, str(program)]
        else:
            what = [str(program), *request.args]
        command = [str(python.python), "-P", "-u", *what]
        with self._process(context, command, request.pwd, environment, piped=True) as process:
            for stream, chunk in children.output_of(process):
                yield (
                    language_pb2.RunPluginResponse(stdout=chunk)
                    if stream == "stdout"
                    else language_pb2.RunPluginResponse(stderr=chunk)
                )
            yield language_pb2.RunPluginResponse(exitcode=process.wait())

    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext):
        """End whatever runs."""
        self._running.end_all()
        return empty_pb2.Empty()

    def _official_only(self, request: object, context: grpc.ServicerContext) -> Any:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, _OFFICIAL_ONLY)

    Template = GenerateProgram = GenerateProject = GeneratePackage = Pack = Link = _official_only

    @contextmanager
    def _process(
        self,
        context: grpc.ServicerContext,
        command: Sequence[str],
        folder: str,
        environment: Mapping[str, str],
        *,
        piped: bool,
    ) -> Generator[subprocess.Popen[bytes]]:
        """Run `command` until the block ends, the engine cancels the request, or the host ends."""
        with ExitStack() as stack:
            try:
                process = stack.enter_context(self._running.start(command, folder, environment, piped=piped))
            except children.ShuttingDownError:
                context.abort(grpc.StatusCode.CANCELLED, "the language host is ending")
            except OSError as error:
                context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"{command[0]} does not start: {error}")
            if not context.add_callback(lambda: children.end(process)):
                children.end(process)
            yield process

    def _program_arguments(self, request: language_pb2.RunRequest) -> list[str]:
        options = {
            "monitor": request.monitor_address,
            "engine": self._engine,
            "project": request.project,
            "stack": request.stack,
            "organization": request.organization,
            "root_directory": request.info.root_directory,
            "pwd": request.pwd,
            "dry_run": "true" if request.dryRun else "false",
            "parallel": str(request.parallel),
        }
        program = Path(request.info.program_directory, request.info.entry_point)
        return [*(f"--{name}={value}" for name, value in options.items()), str(program), *request.args]


def _plugins(info: language_pb2.ProgramInfo, context: grpc.ServicerContext) -> list[dict[str, str]]:
    return _probe(_interpreter(info, context), context)["plugins"]


def _interpreter(info: language_pb2.ProgramInfo, context: grpc.ServicerContext) -> Interpreter:
    try:
        return interpreters.of(info)
    except interpreters.UnusableInterpreterError as error:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))


def _probe(python: Interpreter, context: grpc.ServicerContext) -> dict[str, Any]:
    """Return what a Python says about itself."""
    command = [str(python.python), "-P", str(_HERE / "probe.py")]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env=python.environment(os.environ))
    if answer.returncode:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"{python.python} does not run: {answer.stderr.strip()}")
    return json.loads(answer.stdout)


def _installation(
    info: language_pb2.ProgramInfo, requirements: Path | None, context: grpc.ServicerContext
) -> Iterator[list[str]]:
    """Yield the commands that install a program's packages."""
    try:
        virtualenv = interpreters.virtualenv_of(info)
    except interpreters.UnusableInterpreterError as error:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
    if virtualenv is not None and not (virtualenv / "bin" / "python").exists():
        yield [str(interpreters.default()), "-m", "venv", str(virtualenv)]
    if requirements:
        python = str(_interpreter(info, context).python)
        yield [python, "-m", "pip", "install", "-r", str(requirements)]


def _requirements(folder: Path) -> Path | None:
    """Return the requirements of a program in `folder`, which may be one below its project."""
    candidates = (each / "requirements.txt" for each in (folder, folder.parent))
    return next((each for each in candidates if each.is_file()), None)


def _describe(code: int) -> str:
    """Return what an exit code means to the user; nothing for success."""
    if code == 0:
        return ""
    if code < 0:
        return f"the program was ended by signal {-code}"
    return f"the program ended with exit code {code}"
