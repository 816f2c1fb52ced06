"""Matches label selectors as the API server does, where an unknown label makes an unknown answer."""

from __future__ import annotations

from policies.manifest import UNKNOWN, dig, is_missing, items, mapping


def selects(selector: object, labels: object) -> bool | None:
    """Tell whether a LabelSelector selects pods with `labels`; None when that cannot be known yet.

    A missing selector selects nothing, an empty one everything.
    """
    if selector is None:
        return False
    if selector is UNKNOWN:
        return None
    wanted = dig(selector, "matchLabels")
    expressions = dig(selector, "matchExpressions")
    if is_missing(wanted) and is_missing(expressions):
        return True
    if UNKNOWN in (wanted, expressions, labels):
        return None
    carried = mapping(labels)
    answers = [_equal(carried.get(key), value) for key, value in mapping(wanted).items()]
    answers += [_satisfies(carried, expression) for expression in items(expressions)]
    if False in answers:
        return False
    return None if None in answers else True


def _equal(carried: object, wanted: object) -> bool | None:
    return None if UNKNOWN in (carried, wanted) else carried == wanted


def _satisfies(carried: object, expression: object) -> bool | None:
    key, operator = dig(expression, "key"), dig(expression, "operator")
    if UNKNOWN in (expression, key, operator):
        return None
    value = mapping(carried).get(str(key))
    if operator == "Exists":
        return value is not None
    if operator == "DoesNotExist":
        return value is None
    wanted = dig(expression, "values")
    if value is UNKNOWN or wanted is UNKNOWN or UNKNOWN in items(wanted):
        return None
    listed = value in items(wanted)
    return listed if operator == "In" else not listed
