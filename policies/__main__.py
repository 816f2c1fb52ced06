"""Serves the policy pack to the Pulumi engine: `pulumi preview --policy-pack policies`."""

from pulumi_policy import EnforcementLevel, PolicyPack

from policies.pack import policies

PolicyPack(name="flotilla", policies=policies(), enforcement_level=EnforcementLevel.MANDATORY)
