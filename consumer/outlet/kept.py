"""Keeps what hosts answered, so that a build sees one answer of each address."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from storyshelf.deliveries.answers import Answer
from storyshelf.ids import BuildId

MAX_BUILDS = 4  # at a time; a consumer works on as many builds as it has slots, mostly of one
MAX_KEPT_BYTES = 32 << 20  # of one build: fonts and images of a large Storybook, and then some
HEADERS_BYTES = 2_000  # what an answer weighs besides its body, about
PASSING = frozenset({408, 425, 429, *range(500, 600)})  # what may be otherwise the next time


@dataclass(slots=True)
class KeptAnswers:
    """The answers of one build."""

    _kept: dict[Hashable, Answer] = field(default_factory=dict)
    _kept_bytes: int = 0
    _asking: WeakValueDictionary[Hashable, asyncio.Lock] = field(
        default_factory=WeakValueDictionary
    )

    async def answer(
        self, key: Hashable, ask: Callable[[], Awaitable[Answer]]
    ) -> tuple[Answer, bool]:
        """Return the answer, and whether it was here; who asks meanwhile waits for the same one."""
        lock = self._asking.setdefault(key, asyncio.Lock())
        async with lock:
            if (kept := self._kept.get(key)) is not None:
                return kept, True
            answer = await ask()
            self._keep(key, answer)
            return answer, False

    def has(self, key: Hashable) -> bool:
        """Tell whether an answer is kept."""
        return key in self._kept

    def _keep(self, key: Hashable, answer: Answer) -> None:
        size = len(answer.body) + HEADERS_BYTES
        if answer.status in PASSING or self._kept_bytes + size > MAX_KEPT_BYTES:
            return
        self._kept[key] = answer
        self._kept_bytes += size


class KeptOfBuilds:
    """The answers of the builds that were worked on last."""

    def __init__(self) -> None:
        self._of: OrderedDict[BuildId, KeptAnswers] = OrderedDict()

    def of(self, build: BuildId) -> KeptAnswers:
        """Return the build's; what was not asked for the longest time makes room."""
        kept = self._of.setdefault(build, KeptAnswers())
        self._of.move_to_end(build)
        while len(self._of) > MAX_BUILDS:
            self._of.popitem(last=False)
        return kept
