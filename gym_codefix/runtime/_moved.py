"""A repository under another lock than its own: the environments of dependency tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gym_codefix.catalog import Manifest

from ._environment import environment_key, move_environment, prepare_environment
from ._snapshot import Snapshot
from ._store import Store, sha256_of, write_bytes


def moved_manifest(manifest: Manifest, lock: str, store: Store) -> Manifest:
    """The repository with this lock's text, whichever release (nothing is built)."""
    place = store.path("moved", f"{sha256_of(lock.encode())[:32]}.txt")
    if not place.exists():
        write_bytes(place, lock.encode())
    return manifest.with_lock(place)


def under(snapshot: Snapshot, manifest: Manifest, store: Store) -> Snapshot:
    """A snapshot's tree in the environment of another lock, which must be built.

    The baseline stays that of the release's own lock: it is what the tests should do.
    """
    environment = store.home / "environments" / environment_key(manifest)
    # What the other environment has to import may fail to be imported in this one.
    baseline = replace(snapshot.baseline, modules=())
    key = f"{snapshot.key}-{environment.name}"
    return replace(snapshot, manifest=manifest, key=key, environment=environment, baseline=baseline)


def prepare_moved(
    manifest: Manifest, release: str, lock: str, wheels: Path | None, store: Store
) -> Manifest:
    """``moved_manifest`` with its environment built from that of the release's own lock.

    ``wheels``: see `fetch_wheels`; None takes the index. Raises PrepareError, stage ``install``
    when one is not there.
    """
    own = manifest.locked_for(release)
    found = moved_manifest(manifest, lock, store)
    if not (store.home / "environments" / environment_key(found)).exists():
        source = prepare_environment(own, store)
        before = own.place(own.requirements).read_text(encoding="utf-8")
        move_environment(source, before, found, wheels, store)
    return found
