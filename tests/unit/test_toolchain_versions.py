from __future__ import annotations

import pytest

from sandbox.tools.versions import EXACT, SAME_MAJOR_NOT_OLDER, SAME_MINOR, WITHIN_ONE_MINOR, Rule, Version


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("go version go1.26.8 linux/amd64", Version(1, 26, 8)),
        ("go version go1.26rc1 linux/amd64", Version(1, 26, 0)),
        ("Kubernetes v1.36.3", Version(1, 36, 3)),
        ("Client Version: v1.32.4-dispatcher\nKustomize Version: v5.8.1", Version(1, 32, 4)),
        ("etcd Version: 3.6.6\nGit SHA: 1a2b3c", Version(3, 6, 6)),
        ("kwok version v0.8.0 go1.26.8 (linux/amd64)", Version(0, 8, 0)),
        ("v3.250.0", Version(3, 250, 0)),
    ],
)
def test_version_is_found_in_what_tools_print(printed: str, version: Version) -> None:
    assert Version.find(printed) == version


def test_version_is_none_when_nothing_is_printed() -> None:
    assert Version.find("no numbers here") is None


@pytest.mark.parametrize(
    ("rule", "found", "pinned", "fits"),
    [
        (SAME_MINOR, "1.36.9", "1.36.3", True),
        (SAME_MINOR, "1.37.0", "1.36.3", False),
        (WITHIN_ONE_MINOR, "1.35.0", "1.36.3", True),
        (WITHIN_ONE_MINOR, "1.37.2", "1.36.3", True),
        (WITHIN_ONE_MINOR, "1.34.9", "1.36.3", False),
        (WITHIN_ONE_MINOR, "2.36.3", "1.36.3", False),
        (SAME_MAJOR_NOT_OLDER, "3.250.0", "3.250.0", True),
        (SAME_MAJOR_NOT_OLDER, "3.300.1", "3.250.0", True),
        (SAME_MAJOR_NOT_OLDER, "3.249.9", "3.250.0", False),
        (SAME_MAJOR_NOT_OLDER, "4.0.0", "3.250.0", False),
        (EXACT, "4.25.0", "4.25.0", True),
        (EXACT, "4.25.1", "4.25.0", False),
    ],
)
def test_rule_accepts_only_versions_that_fit(rule: Rule, found: str, pinned: str, fits: bool) -> None:
    assert rule.fits(Version.parse(found), Version.parse(pinned)) is fits
