"""What explains a snapshot: baseline, warnings, failed requests, timings, how it was made."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from storyshelf.bundle.look import Look
from storyshelf.review.read import ShardView, SnapshotView
from storyshelf.snapshots.snapshot import CaptureOptions
from storyshelf.snapshots.steadiness import Level, Steadiness
from storyshelf.ui.signs import Sign
from storyshelf.ui.view_models.pictures import size_of
from storyshelf.ui.words import When, number_of, sentence, short, span, when_at_all
from storyshelf.web.links import Links

STEPS = ("first_picture", "open", "render", "settle", "shoot", "examine", "compare", "store")
BLOCKED = "blocked_request"
FAILED = "resource_failed"
TONES = {"error": "bad", "warning": "wait"}  # of a line of the console
IN_WORDS = {
    "empty_root": "The story drew nothing.",
    "clipped": "The picture does not show all of it.",
    "font_timeout": "A font was not there in time.",
    "image_timeout": "An image was not there in time.",
    "dialog": "The story opened a dialog, which was closed.",
    "popup": "The story opened a window, which was closed.",
    "unsettled": "The story was not at rest when its picture was taken.",
    "accessibility_failed": "Its accessibility could not be examined.",
    "baseline_lost": "The baseline's picture is lost.",
    "wait_timeout": "What it was to wait for did not come.",
    "bad_selector": "An element is not named as the browser understands it.",
    "all_ignored": "Nothing of the picture is compared.",
    "many_ignored": "More is to be ignored than can be.",
    "undeclared_shot": "Its play function asks for a shot that is not declared.",
    "order_dependent": "What it shows depends on the stories shown before it.",
    "bad_parameter": "A parameter could not be followed.",
    "unknown_viewport": "A viewport's name is not known.",
    "unreadable_file": "A file of stories did not load.",
}
STILL = {
    Level.FIRST: "at once: its first picture was the baseline's",
    Level.PAIR: "at once: two pictures in a row were the same",
    Level.AGAIN: "after it was brought to rest again",
    Level.NEVER: "never, in the latest capture",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and what it stands for."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class FailedRequest:
    """A file that the story asked for and did not get."""

    address: str
    why: str


@dataclass(frozen=True, slots=True)
class ConsoleNote:
    """A line that the story wrote to the browser's console."""

    sign: Sign
    text: str


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a step took, and where it lies in the whole, in percent."""

    name: str
    took: str
    from_percent: float
    percent: float


@dataclass(frozen=True, slots=True)
class BaselineNote:
    """What was compared with, why with that, and who accepted it."""

    reason: str
    number: int | None
    link: str
    branch: str
    commit: str
    accepted_by: str
    accepted: When | None


def baseline_note(slug: str, snapshot: SnapshotView, now: datetime) -> BaselineNote:
    """Return what is to be said of the baseline, though there is none."""
    baseline = snapshot.baseline
    if baseline is None:
        return BaselineNote(snapshot.baseline_reason, None, "", "", "", "", None)
    return BaselineNote(
        reason=snapshot.baseline_reason,
        number=baseline.build_number,
        link=Links().build(slug, baseline.build_number),
        branch=baseline.branch,
        commit=short(baseline.commit),
        accepted_by=baseline.accepted_by or "",
        accepted=when_at_all(baseline.accepted_at, now),
    )


def warnings_of(snapshot: SnapshotView) -> Sequence[Fact]:
    """Return the warnings that are no failed requests: a sentence, and the particulars."""
    others = [each for each in snapshot.warnings if each["code"] not in {BLOCKED, FAILED}]
    return [
        Fact(IN_WORDS.get(each["code"], sentence(each["code"].replace("_", " "))), each["text"])
        for each in others
    ]


def requests_of(snapshot: SnapshotView) -> Sequence[FailedRequest]:
    """Return what was asked for in vain, and why it did not come."""
    return [
        _request(each["code"], each["text"])
        for each in snapshot.warnings
        if each["code"] in {BLOCKED, FAILED}
    ]


def console_of(snapshot: SnapshotView) -> Sequence[ConsoleNote]:
    """Return what the story wrote to the console, what went wrong first."""
    return [
        ConsoleNote(Sign(line["level"], TONES.get(line["level"], "quiet")), line["text"])
        for line in snapshot.console
    ]


def _request(code: str, text: str) -> FailedRequest:
    if code == BLOCKED:
        return FailedRequest(text, "outside of the Storybook: not allowed")
    why, colon, address = text.partition(": ")
    if not colon:
        return FailedRequest(text, "it failed")
    return FailedRequest(address, f"status {why}" if why.isdecimal() else why)


def timings_of(timings_ms: Mapping[str, float]) -> Sequence[Timing]:
    """Return how long each step took, in the order of the steps; what is no step comes last."""
    known = [name for name in STEPS if name in timings_ms]
    names = [*known, *sorted(timings_ms.keys() - set(STEPS))]
    whole_ms, until_ms, found = sum(timings_ms.values()) or 1, 0.0, []
    for name in names:
        took_ms = timings_ms[name]
        place = (round(100 * until_ms / whole_ms, 2), round(100 * took_ms / whole_ms, 2))
        found.append(Timing(_step(name), span(took_ms / 1000), *place))
        until_ms += took_ms
    return found


def facts_of(snapshot: SnapshotView, shard: ShardView | None) -> Sequence[Fact]:
    """Return how it was shot and compared."""
    options = CaptureOptions.parse(snapshot.options)
    viewport = options.viewport
    return _given(
        ("Story", snapshot.story_id),
        ("File", snapshot.import_path),
        ("Viewport", f"{size_of(viewport.width_px, viewport.height_px)}, scale {viewport.scale:g}"),
        ("Mode", snapshot.mode),
        *_look_facts(options.look),
        ("Browser", snapshot.browser),
        ("Picture", size_of(snapshot.width_px, snapshot.height_px)),
        ("Delay", f"{options.delay_ms} ms" if options.delay_ms else ""),
        ("Threshold", f"{options.diff_threshold:g}"),
        ("Ignored regions", str(len(snapshot.ignored)) if snapshot.ignored else ""),
        *_diff_facts(snapshot.diff),
        ("Environment", snapshot.environment or ""),
        ("Took", "" if snapshot.duration_ms is None else span(snapshot.duration_ms / 1000)),
        *_shard_facts(shard),
        ("Crashes", number_of(snapshot.crashes, "crash") if snapshot.crashes else ""),
    )


def steadiness_facts(known: Steadiness | None) -> Sequence[Fact]:
    """Return how still the story held until now, whatever build it was in."""
    if known is None:
        return ()
    return _given(
        ("Held still", STILL[known.level]),
        ("Flake score", f"{known.flakiness:.0%} of {number_of(known.captures, 'capture')}"),
        ("Moved to the end", number_of(known.unstable, "time") if known.unstable else ""),
    )


def _look_facts(look: Look) -> Sequence[tuple[str, str]]:
    """Return what of the mode is not as always."""
    words = {
        "ignored": "Ignored selectors",
        "time_zone": "Time zone",
        "color_scheme": "Colour scheme",
        "motion": "Reduced motion",
    }
    return [
        (words.get(name, name.replace("_", " ").capitalize()), _shown(value))
        for name, value in look.to_json().items()
    ]


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def environment_of(facts: Mapping[str, str]) -> Sequence[Fact]:
    """Return what the environment's fingerprint stands for."""
    return _given(*sorted(facts.items()))


def _shard_facts(shard: ShardView | None) -> Iterable[tuple[str, str]]:
    if shard is None:
        return ()
    attempts = ", ".join(f"attempt {each.attempt} {each.outcome}" for each in shard.attempts)
    return (
        ("Shard", ": ".join(filter(None, (str(shard.shard.number), attempts)))),
        ("Consumer", (shard.attempts[-1].consumer_id or "") if shard.attempts else ""),
    )


def _diff_facts(diff: Any) -> Iterable[tuple[str, str]]:
    if diff is None:
        return ()
    moving = diff.get("moving", ())
    return (
        ("Changed", number_of(diff["changed_px"], "pixel")),
        ("Differing at all", number_of(diff["raw_px"], "pixel")),
        ("Regions", str(len(diff["regions"]))),
        ("Moves in", number_of(len(moving), "place") if moving else ""),
        ("Engine", f"{diff['metric']}, {diff['engine']} {diff['engine_version']}"),
    )


def _step(name: str) -> str:
    return name.removesuffix("_ms").replace("_", " ")


def _given(*facts: tuple[str, str]) -> Sequence[Fact]:
    return [Fact(name, value) for name, value in facts if value]
