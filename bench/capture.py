"""Captures beside storycap, test-runner and the browser's own limit, on the same Storybook.

A round runs every side once, one after the other, in an order that turns from round to round, so
that a load that comes or goes meanwhile weighs on none more than on the others.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from bench.capture_books import Book, books
from bench.capture_builds import Twice, a_product, built_twice
from bench.capture_ours import MODES
from bench.capture_ratios import RATIOS, SHOTS, Parts, middle, parts_of, ratios_of
from bench.capture_raw import RawRate, raw_rate
from bench.capture_sides import Scene, SideRun, ours, storycap, test_runner, with_baselines
from bench.machine import cores, machine
from bench.peers.node import peers_folder
from bench.queue_ratios import Rounds
from bench.report import Length, Report, table
from consumer.browsers import find_browser, system_search
from tests.flow.product import Product

ROUNDS = {Length.QUICK: 3, Length.FULL: 5}
ENDS_WITHIN_S = {Length.QUICK: 285, Length.FULL: 7_200}  # then no further round is begun
MEASURES = ("stories_per_s", "wall_s", "cpu_s_per_story", "peak_mb")
EXPLANATION = """\
stories/s and wall are from the start of a peer's command to its end, and of ours from the word to
start the children (Python, driver, browser, none warm) to the last one's end. What a consumer does
once in its life, finding out how this machine isolates browsers, is before that word. CPU and
memory are of the whole process tree; a page that processes share counts once (PSS). Ours includes
serving the Storybook; the peers' web server counts for nobody.
first and unchanged are two builds of one bundle by the whole product, from seal to verdict: all
new, then all compared; the second finds the first's children, browsers and caches warm.
raw is one page, loaded once, shot over and over by CDP: 1280 x 720, no story changed meanwhile.
Ratios are ours to theirs of stories by second or by CPU second, of memory as it is."""
PARTS = """\
A story of ours, mean ms of a slot ({mode}); {slots} slots work side by side. `child` is a child's
start and the laying of the bundle, by its stories; `between` is what the parent waited beyond the
child's steps: the request, and the picture's way to it. `encode` is worked out, not measured in
place: {shots} shots, each raw PNG less raw PNG that is hardly compressed. `rest` is a slot whose
last story is done while the other's is not, and the end of the children."""


@dataclass(slots=True)
class Found:
    """What the rounds on one Storybook read."""

    book: Book
    rounds: Rounds = field(default_factory=Rounds)
    runs: dict[str, list[SideRun]] = field(default_factory=dict)
    raw: list[RawRate] = field(default_factory=list)

    def note_run(self, side: str, number: int, run: SideRun) -> None:
        """Keep a side's run."""
        self.rounds.note(side, number, run.readings())
        self.runs.setdefault(side, []).append(run)
        print(f"  {side}: {run.pictures} of {run.stories} in {run.wall_s:.1f} s", flush=True)

    def note_raw(self, number: int, rate: RawRate) -> None:
        """Keep what the browser can do."""
        self.rounds.note("raw", number, {"stories_per_s": rate.per_s})
        self.raw.append(rate)
        print(f"  raw: {rate.per_s:.1f}/s", flush=True)

    def note_builds(self, number: int, twice: Twice) -> None:
        """Keep the rates of both builds."""
        self.rounds.note("first", number, {"stories_per_s": twice.first_per_s})
        self.rounds.note("unchanged", number, {"stories_per_s": twice.unchanged_per_s})
        print(
            f"  builds: {twice.first_per_s:.2f}/s, then {twice.unchanged_per_s:.2f}/s", flush=True
        )

    def parts(self, mode: str, slots: int) -> Parts:
        """Return where a story's time went in the mode's median run."""
        runs = self.runs[mode]
        run = runs[middle([each.wall_s for each in runs])]
        encode_ms = median(each.encode_ms for each in self.raw)
        return parts_of(run.ms, run.stories, run.wall_s, slots, encode_ms)


def run(length: Length) -> Report:
    """Measure, print the tables, and return the ratios on our own Storybook, and all figures."""
    began = time.monotonic()
    facts = machine()
    print("capture on " + ", ".join(f"{name} {value}" for name, value in facts.items()))
    peers = peers_folder()
    browser = find_browser(None, system_search(os.environ)).path
    with books(length) as chosen, a_product() as product:
        ends_at = began + ENDS_WITHIN_S[length]
        found = [
            _measured(Scene(book, browser, peers, cores()), product, length, ends_at)
            for book in chosen
        ]
    for each in found:
        _show(each)
    return report(found, {**facts, "browser": str(browser), "load_at_end": machine()["load"]})


def _measured(new: Scene, product: Product, length: Length, ends_at: float) -> Found:
    scene, found = with_baselines(new), Found(new.book)
    longest_s = 0.0
    for number in range(ROUNDS[length]):
        began = time.monotonic()
        if number and began + longest_s > ends_at:
            print(f"no time for a round {number + 1}")
            break
        print(f"{scene.book.name}, {len(scene.book.stories)} stories, round {number + 1}")
        for measure in turned(_measures(scene, found, product), number):
            measure(number)
        longest_s = max(longest_s, time.monotonic() - began)
    return found


def _measures(scene: Scene, found: Found, product: Product) -> Sequence[Callable[[int], None]]:
    sides: Mapping[str, Callable[[Scene], SideRun]] = {
        **{mode: _ours_in(mode) for mode in MODES},
        "storycap": storycap,
        "test_runner": test_runner,
    }

    def side(name: str) -> Callable[[int], None]:
        return lambda number: found.note_run(name, number, sides[name](scene))

    def raw(number: int) -> None:
        found.note_raw(number, raw_rate(scene.browser, scene.book))

    def builds(number: int) -> None:
        slug = f"{scene.book.name}-{number}"
        found.note_builds(number, built_twice(product, scene.book, slug))

    return [*(side(name) for name in sides), raw, builds]


def _ours_in(mode: str) -> Callable[[Scene], SideRun]:
    return lambda scene: ours(scene, mode)


def turned(measures: Sequence[Callable[[int], None]], by: int) -> Sequence[Callable[[int], None]]:
    """Return them in the same order, begun elsewhere."""
    start = by % len(measures)
    return [*measures[start:], *measures[:start]]


def report(found: Sequence[Found], facts: Mapping[str, Any]) -> Report:
    """Return what the last line says: ratios of the first Storybook, figures of every one."""
    return Report(
        bench="capture",
        ratios=ratios_of(found[0].rounds),
        figures={**{each.book.name: _figures(each) for each in found}, "machine": dict(facts)},
    )


def _figures(found: Found) -> dict[str, Any]:
    slots = cores()
    return {
        "stories": len(found.book.stories),
        "rounds": len(found.raw),
        "ratios": ratios_of(found.rounds),
        "sides": {side: dict(found.rounds.medians(side)) for side in found.rounds.of_side},
        "raw_ms": {
            "png": median(each.png_ms for each in found.raw),
            "fast_png": median(each.fast_png_ms for each in found.raw),
        },
        "story_ms": {mode: _parts_figures(found.parts(mode, slots)) for mode in MODES},
    }


def _parts_figures(parts: Parts) -> dict[str, Any]:
    return {**parts.per_story, "sum": parts.slot_ms, "unexplained": parts.unexplained}


def _show(found: Found) -> None:
    of_side = {side: found.rounds.medians(side) for side in found.rounds.of_side}
    rows = [
        [side, *(f"{read[name]:.2f}" if name in read else "" for name in MEASURES)]
        for side, read in of_side.items()
    ]
    print(f"\n{found.book.name}: {len(found.book.stories)} stories, medians of {len(found.raw)}")
    print(table(["", *MEASURES], rows), "", EXPLANATION, "", sep="\n")
    ratios = ratios_of(found.rounds)
    print(table(["", "ratio", "wanted", ""], [
        [each.key, f"{ratios[each.key]:.2f}", each.bound, each.verdict(ratios[each.key])]
        for each in RATIOS if each.key in ratios
    ]))  # fmt: skip
    for mode in MODES:
        _show_parts(mode, found.parts(mode, cores()))


def _show_parts(mode: str, parts: Parts) -> None:
    print("\n" + PARTS.format(mode=mode, slots=cores(), shots=SHOTS))
    rows = [
        [name, f"{ms:.1f}", f"{ms / parts.slot_ms:.0%}"] for name, ms in parts.per_story.items()
    ]
    print(table(["", "ms", ""], [*rows, ["sum", f"{parts.slot_ms:.1f}", "100%"]]))
