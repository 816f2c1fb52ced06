"""Rules about teams' volumes and the existing file systems they are offered."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from infra.settings.models.storage.aws import FsxLustre
from infra.settings.quantity import Quantity
from infra.settings.rules.rule import Violation, repeated, rule
from infra.settings.rules.storage import STORAGE, modes_of, unknown_class
from infra.settings.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.settings.locate import KeyPath
    from infra.settings.models.settings import Settings
    from infra.settings.models.storage.scalars import AccessMode
    from infra.settings.models.storage.storage import AnyClass
    from infra.settings.models.teams import Team, TeamVolume

VOLUMES = (*STORAGE, "volumes")
GIBIBYTE = 2**30
LEAST_LUSTRE = 1_200
"""GiB of the smallest file system of FSx for Lustre; larger ones are multiples of 2400."""


def class_of(volume: TeamVolume, settings: Settings) -> str:
    """Return the name of the class that a team's volume is made of."""
    defaults = settings.cluster.storage.defaults
    return volume.storage_class or (defaults.scratch if volume.purpose == "scratch" else defaults.shared)


def _volumes(settings: Settings) -> Iterator[tuple[KeyPath, Team, TeamVolume]]:
    for number, team in enumerate(settings.teams):
        for index, volume in enumerate(team.volumes):
            yield ("teams", number, "volumes", index), team, volume


@rule("cluster", "teams")
def volumes_are_named_once(settings: Settings) -> Iterator[Violation]:
    """Refuse two claims of one name in a team's namespace, its share of existing file systems included."""
    existing = settings.cluster.storage.volumes
    for index, name in repeated(volume.name for volume in existing):
        yield Violation((*VOLUMES, index, "name"), f"another volume is called {name}", "Write another name")
    for number, team in enumerate(settings.teams):
        offered = [volume.name for volume in existing if team.name in volume.teams]
        for index, name in repeated([*offered, *(volume.name for volume in team.volumes)]):
            if index >= len(offered):
                what = f"the team has another volume called {name}"
                yield Violation(("teams", number, "volumes", index - len(offered), "name"), what, "Write another name")


@rule("cluster", "teams")
def volumes_can_be_made(settings: Settings) -> Iterator[Violation]:
    """Refuse a team's volume of an unknown class, or of one that makes none with its access mode."""
    for path, _, volume in _volumes(settings):
        name = class_of(volume, settings)
        found = settings.cluster.storage.find(name)
        if found is None:
            if volume.storage_class:
                yield unknown_class((*path, "storageClass"), name, settings)
        elif not found.dynamic:
            what = f"{name} has driver {found.driver}, which makes no volumes for claims"
            yield Violation(
                (*path, "storageClass"), what, "Name another class, or declare it in cluster.storage.volumes"
            )
        elif volume.access_mode not in modes_of(found):
            yield _wrong_mode((*path, "accessMode"), volume.access_mode, found)


@rule("teams")
def checkpoints_are_shared(settings: Settings) -> Iterator[Violation]:
    """Refuse checkpoints that one node or none may write: a distributed job's pods on other nodes would wait."""
    for path, _, volume in _volumes(settings):
        if volume.purpose == "checkpoints" and volume.access_mode != "ReadWriteMany":
            what = f"{volume.access_mode} does not let the pods of a job on several nodes write checkpoints"
            yield Violation((*path, "accessMode"), what, "Write ReadWriteMany")


@rule("cluster", "teams")
def volumes_fit_the_quota(settings: Settings) -> Iterator[Violation]:
    """Refuse volumes of the shared class that exceed their team's quota: the last claim would be refused."""
    storage = settings.cluster.storage
    for number, team in enumerate(settings.teams):
        made = [volume.size for volume in team.volumes if class_of(volume, settings) == storage.defaults.shared]
        offered = [
            volume.size
            for volume in storage.volumes
            if volume.storage_class == storage.defaults.shared and team.name in volume.teams
        ]
        total = sum((size.value for size in (*made, *offered)), Decimal())
        most = team.quota.shared_storage
        if total > most.value:
            what = f"{most} is less than the team's volumes of {storage.defaults.shared} hold together,"
            total_text = Quantity.of(total, like=most)
            yield Violation(
                ("teams", number, "quota", "sharedStorage"), f"{what} {total_text}", f"Write {total_text} or more"
            )


@rule("cluster", "teams")
def lustre_volumes_have_a_size_it_comes_in(settings: Settings) -> Iterator[Violation]:
    """Refuse a size that FSx for Lustre would round up: the claim would not say what is paid for."""
    for path, _, volume in _volumes(settings):
        if isinstance(settings.cluster.storage.find(class_of(volume, settings)), FsxLustre):
            gibibytes = volume.size.value / GIBIBYTE
            if gibibytes != LEAST_LUSTRE and (gibibytes % (2 * LEAST_LUSTRE) or not gibibytes):
                what = f"FSx for Lustre has no {volume.size}"
                yield Violation((*path, "size"), what, "Write 1200Gi, 2400Gi or a multiple of 2400Gi")


@rule("cluster", "teams")
def existing_file_systems_reach_teams(settings: Settings) -> Iterator[Violation]:
    """Refuse an existing file system for an unknown team, or under a class that cannot mount it."""
    teams = [team.name for team in settings.teams]
    for index, volume in enumerate(settings.cluster.storage.volumes):
        path = (*VOLUMES, index)
        for place, name in enumerate(volume.teams):
            if name not in teams:
                remedy = f"{did_you_mean(name, teams)}Write one of {', '.join(teams) or 'no teams'}"
                yield Violation((*path, "teams", place), f"{name} is not a team", remedy)
        for place, name in repeated(volume.teams):
            yield Violation((*path, "teams", place), f"{name} is listed twice", "Remove one")
        found = settings.cluster.storage.find(volume.storage_class)
        if found is None:
            yield unknown_class((*path, "storageClass"), volume.storage_class, settings)
        elif found.driver != volume.source.driver:
            what = f"{found.name} has driver {found.driver}, which does not mount {volume.source.driver}"
            yield Violation((*path, "storageClass"), what, f"Name a class with driver: {volume.source.driver}")
        elif volume.access_mode not in modes_of(found):
            yield _wrong_mode((*path, "accessMode"), volume.access_mode, found)


def _wrong_mode(path: KeyPath, mode: AccessMode, storage_class: AnyClass) -> Violation:
    modes = ", ".join(sorted(modes_of(storage_class)))
    what = f"volumes of {storage_class.name} (driver {storage_class.driver}) cannot be {mode}"
    return Violation(path, what, f"Write one of {modes}, or use another class")
