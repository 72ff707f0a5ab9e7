"""docker/Dockerfile, instruction by instruction, stage by stage."""

import json
import re
from dataclasses import dataclass

from tests.docker.composed import DOCKER


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction with its continuation lines joined, as in `RUN` and what is run."""

    word: str
    rest: str

    @property
    def program(self) -> list[str]:
        """The program of an instruction in exec form."""
        found: list[str] = json.loads(self.rest[self.rest.index("[") :])
        return found


def stages() -> dict[str, list[Instruction]]:
    """Return each stage's instructions by its name; the first is its FROM."""
    found: dict[str, list[Instruction]] = {}
    name = ""
    for each in _instructions():
        if each.word == "FROM":
            name = each.rest.split()[-1]
            found[name] = []
        if name:
            found[name].append(each)
    return found


def last(stage: str, word: str) -> Instruction:
    """Return the instruction that holds at the end of a stage."""
    return [each for each in stages()[stage] if each.word == word][-1]


def _instructions() -> list[Instruction]:
    text = (DOCKER / "Dockerfile").read_text()
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Instruction(*line.split(maxsplit=1)) for line in joined.splitlines()]
