"""Collects what came of each capture: files as they come, and at the end one result a story."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from consumer.kinds.violations import findings_of
from consumer.local.names import frame_of, trace_of
from consumer.local.out_folder import OutFolder
from consumer.local.planning import Planned
from consumer.local.report import Fault, Frame, Line, Region, State, StoryResult, Told
from consumer.messages import (
    EVERY_PIXEL,
    Captured,
    Compared,
    CompareOptions,
    Ending,
    WarningCode,
)
from storyshelf.diff.outcome import Outcome
from storyshelf.snapshots.violations import Findings

REQUESTS = frozenset({WarningCode.RESOURCE_FAILED, WarningCode.BLOCKED_REQUEST})
KEPT_FRAMES = 4  # different pictures of one story that are kept; the others are counted
KEPT_REGIONS = 20

Compare = Callable[[CompareOptions, bytes, bytes], Awaitable[Compared | None]]


@dataclass(slots=True)
class _Seen:
    """One of the different pictures of a story."""

    file: str | None
    width_px: int
    height_px: int
    times: int = 1
    compared: Compared | None = None


@dataclass(slots=True)
class Tally:
    """What is known of one story in one mode so far."""

    planned: Planned
    shots: int = 0
    faults: Counter[Fault] = field(default_factory=Counter)
    warnings: Counter[tuple[str, str]] = field(default_factory=Counter)
    console: tuple[Line, ...] = ()
    timings_ms: list[dict[str, float]] = field(default_factory=list)
    took_ms: float = 0.0
    picture: str | None = None
    seen: dict[str, _Seen] = field(default_factory=dict)
    trace: str | None = None
    untraced: str = ""
    findings: Findings | None = None  # of its last capture

    def crash(self, words: str) -> None:
        """Note that the browser's process died on it."""
        self.shots += 1
        self.faults[Fault("page_crashed", words)] += 1

    async def add(
        self, captured: Captured, took_ms: float, out: OutFolder, compare: Compare
    ) -> None:
        """Note a capture, write its picture if there is none like it, and say what moved in it."""
        self._note(captured, took_ms)
        if not captured.png:
            return
        if captured.ending is Ending.ERRORED:
            self._keep_first(captured, out)
            return
        key = sha256(captured.png).hexdigest()
        if key in self.seen:
            self.seen[key].times += 1
            return
        if not self.seen:
            self.picture = None  # of an error that came first: this one shows the story
        file = self._write(captured, out)
        seen = self.seen[key] = _Seen(file, captured.width_px, captured.height_px)
        first = next(iter(self.seen.values()))
        if seen is not first and first.file is not None and seen.file is not None:
            seen.compared = await compare(EVERY_PIXEL, out.read(first.file), captured.png)

    @property
    def wants_trace(self) -> bool:
        """Whether there is something that a trace could explain, and it was not recorded yet."""
        is_unstable = self.moved or any(code == WarningCode.UNSETTLED for code, _ in self.warnings)
        is_odd = self.faults.total() > 0 or is_unstable
        return is_odd and self.trace is None and not self.untraced

    def keep_trace(self, content: bytes, out: OutFolder) -> None:
        """Write the trace of one more capture, which counts for nothing else."""
        self.trace = trace_of(self.planned.stem)
        out.write(self.trace, content)

    def result(self) -> StoryResult:
        """Return what there is to say of it."""
        planned, frames = self.planned, self._frames()
        return StoryResult(
            id=planned.story.story_id,
            title=planned.story.title,
            name=planned.story.name,
            import_path=planned.story.import_path,
            mode=planned.mode.name,
            state=self._state(),
            moved=self.moved,
            how=self._how(frames),
            shots=self.shots,
            picture=self.picture,
            frames=frames,
            error=self._fault(),
            warnings=(*(Told(*one) for one in planned.warnings), *self._told(requests=False)),
            failed_requests=self._told(requests=True),
            console=self.console,
            timings_ms=_means(self.timings_ms),
            took_ms=round(self.took_ms / self.shots, 1) if self.shots else 0.0,
            trace=self.trace,
            untraced=self.untraced,
            accessibility=self.findings,
        )

    @property
    def moved(self) -> bool:
        """Whether it did not end the same way, with the same picture, each time."""
        return len(self.seen) > 1 or 0 < self.faults.total() < self.shots

    def _note(self, captured: Captured, took_ms: float) -> None:
        if self.shots == 0 or captured.error is not None:
            self.console = tuple(Line(str(one.level), one.text) for one in captured.console)
        self.shots += 1
        self.took_ms += took_ms
        self.timings_ms.append(captured.timings_ms)
        self.findings = findings_of(captured) or self.findings
        self.warnings.update({(str(one.code), one.text) for one in captured.warnings})
        if captured.ending is Ending.ERRORED:
            error = captured.error
            words = ("render_failed", "The story failed without saying why.", "")
            told = words if error is None else (str(error.code), error.message, error.stack)
            self.faults[Fault(*told)] += 1

    def _keep_first(self, captured: Captured, out: OutFolder) -> None:
        if self.picture is None:
            self._write(captured, out)

    def _write(self, captured: Captured, out: OutFolder) -> str | None:
        if self.picture is None:
            self.picture = name = f"{self.planned.stem}.png"
        elif len(self.seen) < KEPT_FRAMES:
            name = frame_of(self.planned.stem, len(self.seen) + 1)
        else:
            return None
        out.write(name, captured.png)
        return name

    def _state(self) -> State:
        if self.planned.skipped:
            return State.SKIPPED
        if not self.shots:
            return State.MISSING
        if self.faults:
            return State.ERRORED
        return State.WARNINGS if self.warnings or self.planned.warnings else State.OK

    def _fault(self) -> Fault | None:
        if not self.faults:
            return None
        fault, times = self.faults.most_common(1)[0]
        return Fault(fault.code, fault.message, fault.stack, times)

    def _told(self, *, requests: bool) -> tuple[Told, ...]:
        return tuple(
            Told(code, text, times)
            for (code, text), times in self.warnings.items()
            if (code in REQUESTS) is requests
        )

    def _frames(self) -> tuple[Frame, ...]:
        return tuple(_frame(key, seen) for key, seen in self.seen.items())

    def _how(self, frames: Sequence[Frame]) -> str:
        if self.planned.skipped:
            return self.planned.skipped
        if not self.shots:
            return "The capture was stopped before this story."
        said = []
        if 0 < self.faults.total() < self.shots:
            said.append(f"It was errored in {self.faults.total()} of {self.shots} captures.")
        if len(frames) > 1:
            said.append(f"It gave {len(frames)} different pictures in {self.shots} captures.")
            said.extend(_how_they_differ(frames, self.seen))
            said.extend(_hints(self))
        return " ".join(said)


def _frame(key: str, seen: _Seen) -> Frame:
    compared = seen.compared
    regions = () if compared is None else compared.regions[:KEPT_REGIONS]
    return Frame(
        file=seen.file,
        sha256=key,
        width_px=seen.width_px,
        height_px=seen.height_px,
        times=seen.times,
        changed_px=0 if compared is None else compared.raw_px,
        regions=tuple(Region(one.x, one.y, one.width, one.height) for one in regions),
    )


def _how_they_differ(frames: Sequence[Frame], seen: dict[str, _Seen]) -> list[str]:
    sizes = dict.fromkeys(f"{frame.width_px} x {frame.height_px}" for frame in frames)
    said = [f"Its size moves: {', '.join(sizes)} px."] if len(sizes) > 1 else []
    if box := moving_region(frames):
        most = max(frame.changed_px for frame in frames)
        where = f"{box.width} x {box.height} px at {box.x}, {box.y}"
        said.append(f"Up to {most:,} pixels move, all within {where}.")
    outcomes = {one.compared.outcome for one in seen.values() if one.compared is not None}
    if outcomes == {Outcome.IDENTICAL}:
        said.append("Only the files' bytes differ, no pixel does.")
    return said


def moving_region(frames: Sequence[Frame]) -> Region | None:
    """Return the box around all that differs from the first picture."""
    boxes = [box for frame in frames for box in frame.regions]
    if not boxes:
        return None
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    right = max(box.x + box.width for box in boxes)
    bottom = max(box.y + box.height for box in boxes)
    return Region(left, top, right - left, bottom - top)


def _hints(tally: Tally) -> list[str]:
    """Say what some captures warned of and others did not: the likely cause."""
    some = Counter[str]()
    for (code, _), times in tally.warnings.items():
        some[code] = max(some[code], times)
    return [
        f"{times} of {tally.shots} captures warned of {code.replace('_', ' ')}."
        for code, times in some.items()
        if times < tally.shots or code == WarningCode.UNSETTLED
    ]


def _means(all_ms: Sequence[dict[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for one in all_ms for name in one)
    return {
        name: round(sum(one.get(name, 0.0) for one in all_ms) / len(all_ms), 1) for name in names
    }
