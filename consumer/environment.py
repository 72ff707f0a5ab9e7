"""The environment a picture was made in, as one short fingerprint of the facts that decide it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from storyshelf.errors import StoryshelfError
from storyshelf.ids import EnvironmentId

FINGERPRINT_LENGTH = 12  # hex digits: short in a lane's name, and nobody has a million of them


@dataclass(frozen=True, slots=True)
class Environment:
    """Facts and their fingerprint."""

    id: EnvironmentId
    facts: Mapping[str, str]


class EnvironmentMovedError(StoryshelfError):
    """A browser started that is not the one this consumer offers its lanes with."""

    http_status = 503

    def __init__(self, expected: Environment, found: Environment) -> None:
        names = sorted(
            name
            for name in expected.facts.keys() | found.facts.keys()
            if expected.facts.get(name) != found.facts.get(name)
        )
        super().__init__(
            f"The browser's environment changed while the consumer ran: {', '.join(names)}",
            where=f"{expected.id} became {found.id}",
            next_step="Restart the consumer; it then offers the new environment.",
        )


def environment_of(facts: Mapping[str, str]) -> Environment:
    """Return the environment that these facts make."""
    canonical = json.dumps(dict(facts), sort_keys=True, separators=(",", ":"))
    fingerprint = sha256(canonical.encode()).hexdigest()[:FINGERPRINT_LENGTH]
    return Environment(EnvironmentId(fingerprint), dict(facts))
