"""Typed settings of an environment, from values/base.yaml and values/<environment>.yaml."""

from infra.settings.load import environments, load
from infra.settings.models.settings import Settings
from infra.settings.problems import Problem, SettingsError

__all__ = ["Problem", "Settings", "SettingsError", "environments", "load"]
