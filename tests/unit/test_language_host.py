from __future__ import annotations

import json
import os
import select
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import grpc
import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import language_pb2, language_pb2_grpc

from sandbox.language_host.children import Children
from sandbox.language_host.service import LanguageHost
from tests.unit.toolchain_fakes import script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pulumi.runtime.proto.language_pb2_grpc import LanguageRuntimeStub


@pytest.fixture
def running() -> Children:
    return Children()


@pytest.fixture
def host(running: Children, monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageRuntimeStub]:
    monkeypatch.setenv("PULUMI_PYTHON_CMD", sys.executable)
    server = grpc.server(ThreadPoolExecutor(max_workers=4))
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageHost("engine:1", running), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield language_pb2_grpc.LanguageRuntimeStub(channel)
    running.end_all(closing=True)
    server.stop(None).wait()


def _info(folder: Path, **options: str) -> language_pb2.ProgramInfo:
    given = struct_pb2.Struct()
    given.update(options)
    return language_pb2.ProgramInfo(
        root_directory=str(folder), program_directory=str(folder), entry_point=".", options=given
    )


def _run_request(folder: Path, **options: str) -> language_pb2.RunRequest:
    return language_pb2.RunRequest(
        info=_info(folder, **options),
        pwd=str(folder),
        project="tiny",
        stack="local",
        organization="organization",
        monitor_address="monitor:2",
        parallel=7,
        dryRun=True,
        config={"tiny:greeting": "hi"},
        configSecretKeys=["tiny:token"],
    )


def _plugin(host: LanguageRuntimeStub, folder: Path, body: str, *args: str) -> tuple[bytes, bytes, int]:
    (folder / "__main__.py").write_text(body)
    request = language_pb2.RunPluginRequest(
        info=_info(folder), pwd=str(folder), args=args, env=["GREETING=hi=there"], kind="resource"
    )
    out, err, code = b"", b"", -1
    for message in host.RunPlugin(request):
        match message.WhichOneof("output"):
            case "stdout":
                out += message.stdout
            case "stderr":
                err += message.stderr
            case _:
                code = message.exitcode
    return out, err, code


def _fails(call: grpc.RpcError) -> tuple[grpc.StatusCode, str]:
    assert isinstance(call, grpc.Call)
    return call.code(), call.details() or ""


def test_program_gets_what_the_engine_says(
    host: LanguageRuntimeStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = script(tmp_path / "fake-python", f'echo "$@" > {tmp_path}/args; env > {tmp_path}/env')
    monkeypatch.setenv("PULUMI_PYTHON_CMD", str(python))
    response = host.Run(_run_request(tmp_path))
    assert (response.error, response.bail) == ("", False)
    arguments = (tmp_path / "args").read_text().split()
    assert arguments[:2] == ["-P", "-u"]
    assert {
        "--engine=engine:1",
        "--monitor=monitor:2",
        "--project=tiny",
        "--stack=local",
        "--organization=organization",
        "--dry_run=true",
        "--parallel=7",
        f"--pwd={tmp_path}",
        f"--root_directory={tmp_path}",
    } < set(arguments)
    assert arguments[-1] == str(tmp_path)
    environment = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines())
    assert json.loads(environment["PULUMI_CONFIG"]) == {"tiny:greeting": "hi"}
    assert json.loads(environment["PULUMI_CONFIG_SECRET_KEYS"]) == ["tiny:token"]


@pytest.mark.parametrize(
    ("ending", "error", "bail"),
    [
        ("exit 0", "", False),
        ("exit 32", "", True),
        ("exit 3", "the program ended with exit code 3", False),
        ("kill -9 $$", "the program was ended by signal 9", False),
    ],
)
def test_exit_code_tells_the_engine_what_to_say(
    ending: str, error: str, bail: bool, host: LanguageRuntimeStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_PYTHON_CMD", str(script(tmp_path / "fake-python", ending)))
    response = host.Run(_run_request(tmp_path))
    assert (response.error, response.bail) == (error, bail)


def test_cancelled_program_is_ended(host: LanguageRuntimeStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    python = script(tmp_path / "fake-python", f"echo $$ > {started}; exec sleep 60")
    monkeypatch.setenv("PULUMI_PYTHON_CMD", str(python))
    outcome: list[str] = []
    thread = threading.Thread(target=lambda: outcome.append(host.Run(_run_request(tmp_path)).error))
    thread.start()
    pid = int(started.read_text())
    host.Cancel(empty_pb2.Empty())
    thread.join()
    assert outcome == ["the program was ended by signal 15"]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_program_runs_on_the_virtual_environment_it_names(host: LanguageRuntimeStub, tmp_path: Path) -> None:
    script(tmp_path / "env" / "bin" / "python", f'echo "$VIRTUAL_ENV:$PATH" > {tmp_path}/seen')
    host.Run(_run_request(tmp_path, virtualenv="env"))
    assert (tmp_path / "seen").read_text().startswith(f"{tmp_path}/env:{tmp_path}/env/bin{os.pathsep}")


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"virtualenv": "missing"}, "missing is not a virtual environment. Create it with `python3 -m venv"),
        ({"toolchain": "uv"}, ".venv is not a virtual environment. Create it with `python3 -m venv"),
        ({"toolchain": "poetry"}, "toolchain=poetry needs the official pulumi-language-python"),
    ],
)
def test_python_that_cannot_be_used_is_explained(
    options: dict[str, str], advice: str, host: LanguageRuntimeStub, tmp_path: Path
) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        host.Run(_run_request(tmp_path, **options))
    code, details = _fails(raised.value)
    assert code == grpc.StatusCode.FAILED_PRECONDITION
    assert advice in details


def test_plugin_output_and_exit_code_are_streamed(host: LanguageRuntimeStub, tmp_path: Path) -> None:
    body = """
import os, sys
print(sys.argv[1], os.environ["GREETING"], "PATH" in os.environ)
sys.stderr.write("oh\\n")
sys.exit(7)
"""
    assert _plugin(host, tmp_path, body, "argument") == (b"argument hi=there False\n", b"oh\n", 7)


def test_plugin_output_comes_whole_however_much_there_is(host: LanguageRuntimeStub, tmp_path: Path) -> None:
    out, err, code = _plugin(host, tmp_path, "print('x' * 300_000, end='')")
    assert (len(out), err, code) == (300_000, b"", 0)


def test_plugin_ends_when_the_engine_hangs_up(host: LanguageRuntimeStub, tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("import os, time\nprint(os.getpid())\ntime.sleep(60)")
    request = language_pb2.RunPluginRequest(
        info=_info(tmp_path), pwd=str(tmp_path), env=[f"PATH={os.environ['PATH']}"], kind="resource"
    )
    stream = host.RunPlugin(request)
    pid = int(next(stream).stdout)
    handle = os.pidfd_open(pid)
    stream.cancel()
    ended, _, _ = select.select([handle], [], [], 30)
    os.close(handle)
    assert ended


def test_policy_pack_is_run_by_the_sdk(
    host: LanguageRuntimeStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_PYTHON_CMD", str(script(tmp_path / "fake-python", 'echo "$@"')))
    request = language_pb2.RunPluginRequest(
        info=_info(tmp_path), pwd=str(tmp_path), args=["engine:1"], env=["A=b"], kind="analyzer"
    )
    first = next(host.RunPlugin(request))
    assert first.stdout.decode().split() == ["-P", "-u", "-m", "pulumi.policy", "engine:1", str(tmp_path)]


def test_required_packages_are_the_providers_of_installed_sdks(host: LanguageRuntimeStub, tmp_path: Path) -> None:
    request = language_pb2.GetRequiredPackagesRequest(info=_info(tmp_path))
    packages = {each.name: each for each in host.GetRequiredPackages(request).packages}
    assert packages.keys() == {"kubernetes"}
    assert (packages["kubernetes"].kind, packages["kubernetes"].version) == ("resource", "4.25.0")
    plugins = host.GetRequiredPlugins(language_pb2.GetRequiredPluginsRequest(info=_info(tmp_path))).plugins
    assert [(each.name, each.kind, each.version) for each in plugins] == [("kubernetes", "resource", "4.25.0")]


def test_about_and_dependencies_describe_the_programs_python(host: LanguageRuntimeStub, tmp_path: Path) -> None:
    about = host.About(language_pb2.AboutRequest(info=_info(tmp_path)))
    assert (about.executable, about.version) == (sys.executable, ".".join(map(str, sys.version_info[:3])))
    request = language_pb2.GetProgramDependenciesRequest(info=_info(tmp_path))
    direct = {each.name: each.version for each in host.GetProgramDependencies(request).dependencies}
    request.transitiveDependencies = True
    all_of_them = {each.name for each in host.GetProgramDependencies(request).dependencies}
    assert direct.keys() < all_of_them
    assert "grpcio" in all_of_them - direct.keys()


def test_dependencies_are_installed_into_the_named_virtual_environment(
    host: LanguageRuntimeStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_venv = f'/bin/mkdir -p {tmp_path}/env/bin; /bin/cp "$0" {tmp_path}/env/bin/python'
    python = script(tmp_path / "fake-python", f'echo "$2 $3"; [ "$2" = venv ] && {{ {make_venv}; }}; exit 0')
    monkeypatch.setenv("PULUMI_PYTHON_CMD", str(python))
    (tmp_path / "requirements.txt").write_text("things\n")
    request = language_pb2.InstallDependenciesRequest(info=_info(tmp_path, virtualenv="env"))
    output = b"".join(each.stdout for each in host.InstallDependencies(request))
    assert output.decode() == f"venv {tmp_path}/env\npip install\n"


def test_failed_installation_fails_the_request(
    host: LanguageRuntimeStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_PYTHON_CMD", str(script(tmp_path / "fake-python", "exit 4")))
    (tmp_path / "requirements.txt").write_text("things\n")
    with pytest.raises(grpc.RpcError) as raised:
        list(host.InstallDependencies(language_pb2.InstallDependenciesRequest(info=_info(tmp_path))))
    assert _fails(raised.value)[1].endswith("ended with exit code 4")


def test_generating_code_names_the_official_host(host: LanguageRuntimeStub) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        host.GenerateProgram(language_pb2.GenerateProgramRequest())
    code, details = _fails(raised.value)
    assert code == grpc.StatusCode.UNIMPLEMENTED
    assert "install Pulumi" in details


def test_nothing_starts_once_the_host_is_ending(host: LanguageRuntimeStub, running: Children, tmp_path: Path) -> None:
    running.end_all(closing=True)
    with pytest.raises(grpc.RpcError) as raised:
        host.Run(_run_request(tmp_path))
    assert _fails(raised.value) == (grpc.StatusCode.CANCELLED, "the language host is ending")
