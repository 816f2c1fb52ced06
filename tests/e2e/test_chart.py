"""A chart, installed by the real engine and provider from an archive that was checked."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from infra.core.chart_archive import digest
from tests.e2e.objects import namespace
from tests.e2e.platform import Platform

if TYPE_CHECKING:
    from sandbox.cluster import Sandbox

pytestmark = pytest.mark.e2e

PROGRAM = Path(__file__).parent / "programs" / "chart"
FILES = {
    "boats/Chart.yaml": "apiVersion: v2\nname: boats\nversion: 1.0.0\n",
    "boats/values.yaml": "colour: white\n",
    "boats/templates/boat.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: boat }\ndata: { colour: {{ .Values.colour }} }\n"
    ),
    "boats/templates/hook.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: hook\n  annotations: { helm.sh/hook: pre-install }\n"
    ),
}


def archive() -> bytes:
    """Return a chart's archive."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for name, text in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return content.getvalue()


class Fleet:
    """The chart on a cluster, with a mirror that holds its archive."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self.platform = Platform(sandbox, folder)
        self.platform.run_program(PROGRAM)
        with sandbox.api() as api:
            self.namespace = namespace(api)
        content = archive()
        self.digest = digest(content)
        (folder / "mirror" / "charts").mkdir(parents=True)
        (folder / "mirror" / "charts" / "boats-1.0.0.tgz").write_bytes(content)
        self.platform.variables["FLOTILLA_MIRROR"] = str(folder / "mirror")
        self.folder = folder / "charts"
        self.declare(self.digest)

    def declare(self, pinned: str, **values: str) -> None:
        """Say what the program is to install from now on."""
        source = {"repository": "https://charts.test", "chart": "boats", "version": "1.0.0", "digest": pinned}
        wanted = {"source": source, "namespace": self.namespace, "values": values, "folder": str(self.folder)}
        self.platform.variables["CHART"] = json.dumps(wanted)

    def data(self, name: str = "boat") -> dict[str, str] | None:
        """Return what the chart made."""
        found = self.platform.find(f"/api/v1/namespaces/{self.namespace}/configmaps/{name}")
        return found and found["data"]


@pytest.fixture
def fleet(sandbox: Sandbox, tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(sandbox, tmp_path)
    yield made
    made.platform.destroy()


def test_chart_is_installed_changed_and_removed_as_a_whole(fleet: Fleet) -> None:
    fleet.platform.up()

    assert fleet.data() == {"colour": "white"}
    assert fleet.data("hook") is None
    assert fleet.platform.plan() == []

    fleet.declare(fleet.digest, colour="red")
    fleet.platform.up()

    assert fleet.data() == {"colour": "red"}


def test_chart_that_is_not_the_pinned_one_stops_the_engine_in_one_line(fleet: Fleet) -> None:
    fleet.declare("sha256:" + "0" * 64)

    done = fleet.platform.pulumi("preview")

    assert done.returncode != 0
    assert "boats 1.0.0: the archive is sha256:" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
