from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
import yaml

from sandbox.kubeconfig import Credential, Kubeconfig

if TYPE_CHECKING:
    from pathlib import Path


def test_file_stands_alone_with_one_context_for_each_credential(tmp_path: Path) -> None:
    for name in ("ca", "crt", "key"):
        (tmp_path / name).write_text(name)
    content = Kubeconfig(
        cluster="flotilla-local",
        server="https://127.0.0.1:20000",
        authority=tmp_path / "ca",
        contexts={
            "flotilla-local": Credential(certificate=tmp_path / "crt", key=tmp_path / "key"),
            "flotilla-local/vera@example.com": Credential(token="secret"),
        },
    ).render()
    document = yaml.safe_load(content)
    assert document["current-context"] == "flotilla-local"
    assert [each["name"] for each in document["contexts"]] == ["flotilla-local", "flotilla-local/vera@example.com"]
    assert base64.b64decode(document["users"][0]["user"]["client-key-data"]) == b"key"
    assert document["users"][1]["user"] == {"token": "secret"}
    assert str(tmp_path) not in content


def test_credential_without_any_proof_is_refused() -> None:
    with pytest.raises(ValueError, match="a token, or a certificate"):
        Credential().fields()
