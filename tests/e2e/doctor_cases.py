"""What the doctor's tests share: targets of real servers, and findings in a form that compares at a glance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from ops.doctor.examine import LONGEST_TIMEOUT_SECONDS, Examination, examine
from ops.doctor.report import to_json
from ops.doctor.secret import Secret
from ops.doctor.targets import Address, Login, Tls
from tests.servers.process import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ops.doctor.finding import Finding
    from tests.servers.certificates import Authority
    from tests.servers.process import Login as ServerLogin
    from tests.servers.server import Server

HOST = "127.0.0.1"
S = TypeVar("S", bound="Server")
Seen: TypeAlias = list[tuple[str, str, str]]
"""Status, check and what was found, of everything that is not well."""


@dataclass(frozen=True, kw_only=True)
class Case(Generic[S]):
    """A way in which a server can be broken, and what the doctor says of it.

    Args:
        name: what is broken, in words for the test's name.
        breaking: breaks a good server while it is entered, and gives the target to examine.
        seen: what is found besides what is well.
    """

    name: str
    breaking: Callable[[S], AbstractContextManager[Any]]
    seen: Seen


def login(of: ServerLogin, source: str = "Secret data/user") -> Login:
    """Return a server's user as the doctor knows it."""
    return Login(user=of.user, password=Secret(of.password), source=source)


def wrong(user: str) -> Login:
    """Return a user with a password that is nobody's."""
    return Login(user=user, password=Secret("no-such-password"), source="Secret data/user")


def address(port: int, host: str = HOST) -> Address:
    """Return a port of this machine."""
    return Address(host=host, port=port)


def trusting(authority: Authority) -> Tls:
    """Return TLS as production has it."""
    return Tls(mode="verify-full", ca=authority.path.read_text())


def examined(*examinations: Examination, timeout: float = LONGEST_TIMEOUT_SECONDS) -> list[Finding]:
    """Return what the doctor finds, once it is sure that every fault is explained and no secret shown."""
    secrets = {secret.value for each in examinations for secret in each.probe.secrets}
    findings = examine(examinations, timeout, lambda _: None)
    for finding in findings:
        if finding.status in ("warn", "fail"):
            assert finding.why, finding
            assert finding.run, finding
    shown = to_json("test", findings)
    assert not [secret for secret in secrets if secret in shown]
    assert "Traceback" not in shown
    return findings


def seen(findings: Sequence[Finding]) -> Seen:
    """Return what is not well."""
    return [(each.status, each.check, each.what) for each in findings if each.status in ("warn", "fail")]


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until something holds that a server needs a moment for."""
    wait_until(condition, "what was waited for did not come", 30)


def names(cases: Sequence[Case[S]]) -> Iterator[str]:
    """Yield the names of cases, for pytest's `ids`."""
    return (case.name for case in cases)
