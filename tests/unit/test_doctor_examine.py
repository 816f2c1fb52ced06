"""How checks run: in order, none for longer than its timeout, never with a trace or a secret."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from ops.doctor.check import Check, Verdict, Verdicts, check, fail, ok, warn
from ops.doctor.examine import Examination, examine
from ops.doctor.finding import Finding, counts
from ops.doctor.secret import HIDDEN, Secret
from tests.unit.doctor_fakes import FakeProbe

PASSWORD = "correct-horse-battery"


def made(name: str, *verdicts: Verdict, needs: tuple[str, ...] = ()) -> Check[FakeProbe]:
    @check(name, "network", why="It matters.", run="Mend it.", needs=needs)
    def look(_: FakeProbe) -> Verdicts:
        """Looks at nothing."""
        return verdicts

    return look


def raising(error: Exception) -> Check[FakeProbe]:
    @check("raising", "network", why="It matters.", run="Mend it.")
    def look(_: FakeProbe) -> Iterator[Verdict]:
        """Looks, and fails at it."""
        yield ok("begun")
        raise error

    return look


def examined(probe: FakeProbe, *checks: Check[FakeProbe], timeout: float = 5) -> list[Finding]:
    return examine([Examination(probe=probe, checks=checks)], timeout, lambda _: None)


def test_findings_keep_the_order_of_checks_and_name_the_subject() -> None:
    found = examined(FakeProbe(), made("first", ok("well")), made("second", ok("part", subject="data.fake part")))

    assert [(each.check, each.subject, each.status) for each in found] == [
        ("first", "data.fake", "ok"),
        ("second", "data.fake part", "ok"),
    ]


def test_a_fault_carries_the_checks_reason_and_the_verdicts_advice() -> None:
    [found] = examined(FakeProbe(), made("first", fail("broken", run="Mend this one")))

    assert (found.what, found.why, found.run) == ("broken", "It matters.", "Mend this one")


def test_what_is_well_needs_neither_reason_nor_advice() -> None:
    [found] = examined(FakeProbe(), made("first", ok("well")))

    assert (found.why, found.run) == (None, None)


def test_a_check_that_needs_a_failed_one_is_skipped_and_names_the_root() -> None:
    found = examined(
        FakeProbe(),
        made("first", fail("broken", run="Mend it")),
        made("second", ok("well"), needs=("first",)),
        made("third", ok("well"), needs=("second",)),
        made("fourth", ok("well")),
    )

    assert [(each.status, each.what) for each in found] == [
        ("fail", "broken"),
        ("skipped", "needs first, which failed"),
        ("skipped", "needs first, which failed"),
        ("ok", "well"),
    ]


def test_a_check_that_failed_in_part_leaves_something_to_build_on() -> None:
    found = examined(
        FakeProbe(),
        made("first", fail("one is broken", run="Mend it"), ok("the other is well")),
        made("second", ok("well"), needs=("first",)),
    )

    assert found[-1].status == "ok"


def test_a_warning_stops_nothing() -> None:
    found = examined(FakeProbe(), made("first", warn("odd", run="Look")), made("second", ok("well"), needs=("first",)))

    assert [each.status for each in found] == ["warn", "ok"]


def test_silence_ends_with_the_timeout_and_the_targets_other_checks_with_it() -> None:
    released = threading.Event()

    @check("silent", "network", why="It matters.", run="Mend it.")
    def silent(_: FakeProbe) -> Verdicts:
        """Waits for ever."""
        released.wait()
        return []

    found = examined(FakeProbe(), silent, made("second", ok("well")), timeout=0.05)
    released.set()

    assert [(each.status, each.what) for each in found] == [
        ("fail", "no answer within 0.05 s"),
        ("skipped", "needs silent, which failed"),
    ]


def test_targets_do_not_wait_for_one_another() -> None:
    both = threading.Barrier(2, timeout=5)

    @check("meeting", "network", why="It matters.", run="Mend it.")
    def meeting(_: FakeProbe) -> Verdicts:
        """Waits for the other target."""
        both.wait()
        return [ok("met")]

    found = examine([Examination(probe=FakeProbe(), checks=(meeting,)) for _ in range(2)], 5, lambda _: None)

    assert [each.what for each in found] == ["met", "met"]


def test_what_a_client_raises_becomes_its_explanation() -> None:
    found = examined(FakeProbe(explained=fail("the server went away", run="Start it")), raising(OSError("gone")))

    assert [each.what for each in found] == ["begun", "the server went away"]


@pytest.mark.parametrize("error", [ValueError("odd\nanswer"), KeyError("missing")])
def test_what_nobody_expected_is_one_line_without_a_trace(error: Exception) -> None:
    found = examined(FakeProbe(), raising(error))

    assert found[-1].status == "fail"
    assert found[-1].what.startswith(f"an answer nobody expected ({type(error).__name__}: ")
    assert "\n" not in found[-1].what


def test_secrets_are_hidden_in_whatever_a_server_says() -> None:
    probe = FakeProbe(secrets=frozenset({Secret(PASSWORD)}))

    [found] = examined(probe, made("first", fail(f"bad password {PASSWORD}", run=f"Set {PASSWORD}")))

    assert found.what == f"bad password {HIDDEN}"
    assert found.run == f"Set {HIDDEN}"


def test_a_secret_shows_in_no_representation() -> None:
    assert PASSWORD not in f"{Secret(PASSWORD)} {Secret(PASSWORD)!r} {[Secret(PASSWORD)]}"


def test_probes_are_closed_also_when_that_fails(recwarn: pytest.WarningsRecorder) -> None:
    class Stuck(FakeProbe):
        def close(self) -> None:
            super().close()
            raise OSError("already closed")

    probe = Stuck()
    examined(probe, made("first", ok("well")))

    assert probe.closed == [True]
    assert not list(recwarn)


def test_nothing_to_look_at_is_said() -> None:
    [found] = examined(FakeProbe(), made("first"))

    assert (found.status, found.what) == ("skipped", "there is nothing to look at")


def test_every_check_is_told_as_it_ends() -> None:
    told: list[str] = []
    probe = FakeProbe()
    checks = (made("first", ok("well")), made("second", ok("well")))
    examine([Examination(probe=probe, checks=checks)], 5, lambda found: told.append(found[0].check))

    assert told == ["first", "second"]


def test_counts_name_the_worst_first() -> None:
    found = examined(FakeProbe(), made("first", ok("well"), fail("broken", run="Mend it"), ok("well")))

    assert list(counts(found).items()) == [("fail", 1), ("warn", 0), ("skipped", 0), ("ok", 2)]
