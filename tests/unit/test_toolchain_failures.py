from __future__ import annotations

import errno
from pathlib import Path

import pytest

from sandbox.tools import failures


@pytest.mark.parametrize(
    ("output", "what"),
    [
        ("write /tmp/go-build1/x.a: no space left on device", "the disk is full"),
        ("verifying a@v1: checksum mismatch\nSECURITY ERROR", "a downloaded module is not what go.sum says"),
        ("main.go:3: missing go.sum entry for module", "the checkout's go.mod or go.sum is incomplete"),
        ("a@v1: module lookup disabled by GOPROXY=off", "GOPROXY does not allow downloads"),
        ("a@v1: reading https://p/a.zip: 403 Forbidden", "the module proxy refused a module"),
        ("a@v1: reading https://p/a.zip: 404 Not Found", "the module proxy refused a module"),
        ('Get "https://p/a.zip": dial tcp: lookup p: no such host', "the module proxy cannot be reached"),
        ("go: go.mod requires go >= 1.99 (running go 1.26.8)", "this Go is too old for the module"),
        ("x: /tools/compile: signal: killed", "the compiler ran out of memory"),
        ("mkdir /cache: permission denied", "a cache folder cannot be written"),
        ("main.go:3:1: syntax error", "the build failed"),
        ("", "the build failed (no output)"),
    ],
)
def test_build_failure_is_one_line_that_names_cause_and_log(output: str, what: str, tmp_path: Path) -> None:
    log = tmp_path / "things.log"
    log.write_text(f"# go build ./...\ngo: downloading a v1\n{output}\n")
    message = str(failures.build_failed("things 1.0.0", log))
    assert message.startswith(f"building things 1.0.0: {what}")
    assert message.endswith(f"Full log: {log}")
    assert "\n" not in message


def test_endless_lines_of_a_compiler_are_shortened(tmp_path: Path) -> None:
    log = tmp_path / "things.log"
    log.write_text("x" * 5000)
    assert len(str(failures.build_failed("things", log))) < 500


@pytest.mark.parametrize(
    ("number", "what"), [(errno.ENOSPC, "the disk is full"), (errno.EACCES, "cannot keep the toolchain here")]
)
def test_unusable_cache_names_the_folder(number: int, what: str) -> None:
    message = str(failures.cache_failed(OSError(number, "reason", "/cache/file"), Path("/cache")))
    assert message.startswith(f"/cache/file: {what}")
    assert "FLOTILLA_CACHE" in message
