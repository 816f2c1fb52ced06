"""Flotilla's policy pack: what must hold for every object of the platform, judged before it is applied.

The rules are pure functions over plain manifests. `pack` hands them to Pulumi; `check` runs them by itself.
"""

from policies.evaluation import Violation, Waiver, check, waivers

__all__ = ["Violation", "Waiver", "check", "waivers"]
