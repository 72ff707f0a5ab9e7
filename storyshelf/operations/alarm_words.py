"""What an alarm means, and what whoever runs the service does about it."""

from collections.abc import Mapping
from dataclasses import dataclass

from storyshelf.operations import (
    audit_pass,
    bloat_watch,
    full_storage,
    progress_pass,
    unserved_work,
)


@dataclass(frozen=True, slots=True)
class Said:
    """An alarm in words."""

    what: str
    advice: str


WORDS: Mapping[str, Said] = {
    bloat_watch.OLD_TRANSACTION: Said(
        "A transaction of the database was open for minutes",
        "While one is, the database cannot clean up after the queue, which becomes slower. Find out"
        " what holds it open; `SELECT pg_terminate_backend(pid)` ends the session.",
    ),
    audit_pass.ALARM: Said(
        "A build did not fit its shards and was put right",
        "Nothing is left to do for the build. It should never happen: please report it with the"
        " details, and the logs from its last time on.",
    ),
    full_storage.ALARM: Said(
        "The blob storage is full",
        "Free space on the disk that the details name. Captures wait for it for an hour, lose"
        " nothing, and go on by themselves; the alarm ends then.",
    ),
    progress_pass.ALARM: Said(
        "Shards without a job were given one again",
        "Nothing is left to do for the builds. It should never happen: please report it with the"
        " logs from its last time on.",
    ),
}
UNSERVED_ADVICE = (
    "Start a consumer that does, or set its slots: what waits for long without one is ended. The"
    " alarm ends by itself when one takes such work."
)
UNKNOWN_ADVICE = "Look for it in the logs of server and consumers from its last time on."


def words_on(name: str) -> Said:
    """Return what to say of an alarm; one without words of its own is told by its name."""
    if name.startswith(unserved_work.PREFIX):
        return _unserved(name.removeprefix(unserved_work.PREFIX))
    said = name.replace("_", " ")
    return WORDS.get(name) or Said(said[:1].upper() + said[1:], UNKNOWN_ADVICE)


def _unserved(lane_and_kind: str) -> Said:
    lane, _, kind = lane_and_kind.partition("/")
    jobs = f"{kind} jobs of lane {lane}" if kind else f"jobs of lane {lane}"
    return Said(f"No consumer takes the {jobs}", UNSERVED_ADVICE)
