from __future__ import annotations

import base64
import hashlib
import io
import zipfile

import pytest

from infra import crd_sources
from infra.core.crds.gosum import hash1, zip_path
from infra.core.crds.pins import fingerprint
from infra.errors import FlotillaError


def test_hash1_of_a_zip_is_the_hash_of_its_sorted_listing() -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("m@v1/b.txt", "b")
        archive.writestr("m@v1/a.txt", "")
    listing = (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  m@v1/a.txt\n"
        "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  m@v1/b.txt\n"
    )
    expected = "h1:" + base64.b64encode(hashlib.sha256(listing.encode()).digest()).decode()

    with zipfile.ZipFile(content) as archive:
        assert hash1(archive) == expected


def test_zip_path_spells_capitals_for_case_blind_file_systems() -> None:
    assert zip_path("github.com/Azure/SDK", "v1.0.0-RC1") == "github.com/!azure/!s!d!k/@v/v1.0.0-!r!c1.zip"


def test_fingerprint_ignores_the_order_of_keys_but_not_of_lists() -> None:
    assert fingerprint({"a": [1, 2], "b": None}) == fingerprint({"b": None, "a": [1, 2]})
    assert fingerprint([1, 2]) != fingerprint([2, 1])


@pytest.mark.parametrize("source", crd_sources.ALL, ids=str)
def test_catalogue_entries_are_complete_pins(source: crd_sources.CrdSource) -> None:
    assert source.h1.startswith("h1:")
    assert len(base64.b64decode(source.h1.removeprefix("h1:"))) == 32
    assert source.paths
    assert source.crds
    assert all(pin.startswith("sha256:") and len(pin) == 71 for pin in source.crds.values())
    assert list(source.crds) == sorted(source.crds)


def test_training_operator_brings_all_six_kinds() -> None:
    kinds = {name.partition(".")[0] for name in crd_sources.TRAINING_OPERATOR.crds}

    assert kinds == {"tfjobs", "pytorchjobs", "xgboostjobs", "mpijobs", "paddlejobs", "jaxjobs"}


def test_digest_changes_with_any_pin() -> None:
    whole = crd_sources.KARPENTER
    part = whole.keeping(("nodepools.karpenter.sh",))

    assert list(part.crds) == ["nodepools.karpenter.sh"]
    assert part.digest != whole.digest


def test_keeping_names_what_the_source_has_when_a_name_is_unknown() -> None:
    with pytest.raises(FlotillaError, match=r"no CRD named pools\.karpenter\.sh.* It has .*nodepools"):
        crd_sources.KARPENTER.keeping(("pools.karpenter.sh",))
