"""Judges how a story ended, from Storybook's events and from what the page shows at the end."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from consumer.messages import MAX_LEFT, MAX_SHORT_TEXT, ErrorCode, StoryError

MAX_MESSAGE = 4_000
MAX_STACK = 20_000
MAX_SHOTS = 50  # that a report tells of
MAX_SHOT_NAME = 60
ORIGIN = re.compile(r"https?://[a-z0-9-]+\.localhost:\d+/?")
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
CODES = {code.value: code for code in ErrorCode}


@dataclass(frozen=True, slots=True)
class Report:
    """The page's own account; a hostile page may have written any of it."""

    events: frozenset[str]
    phase: str
    shows: frozenset[str]  # the body's sb-show-* classes
    display: str  # the text of the error display
    error: StoryError | None
    late: StoryError | None  # an error of the page that Storybook did not report
    left: tuple[str, ...] = ()  # what the stories before left behind
    shots: tuple[str, ...] = ()  # that its play function asked for, in order
    declared: frozenset[str] | None = None  # the shots of its parameters; None: not told

    @property
    def undeclared(self) -> tuple[str, ...]:
        """The shots that were asked for, and that no planning can know of."""
        if self.declared is None:
            return ()
        return tuple(shot for shot in self.shots if shot not in self.declared)


def read_report(raw: object) -> Report:
    """Read the page's account without believing its shape."""
    fields = raw if isinstance(raw, Mapping) else {}
    events, shows = fields.get("events"), fields.get("shows")
    declared = fields.get("declared")
    return Report(
        events=frozenset(map(str, events)) if isinstance(events, Mapping) else frozenset(),
        phase=str(fields.get("phase", "")),
        shows=frozenset(map(str, shows)) if isinstance(shows, list) else frozenset(),
        display=plain(fields.get("display"), MAX_MESSAGE),
        error=_error(fields.get("error")),
        late=_error(fields.get("late")),
        shots=_shots(fields.get("shots")),
        declared=frozenset(_shots(declared)) if isinstance(declared, list) else None,
        left=_left(fields.get("left")),
    )


def judge(report: Report, shot: str = "") -> StoryError | None:
    """Return why the story is errored, if it is; an event weighs more than what is shown.

    `shot` is the one that its play function was to reach, if it was to reach one.
    """
    if report.error is not None:
        return report.error
    if "sb-show-errordisplay" in report.shows:
        return StoryError(ErrorCode.RENDER_FAILED, report.display or "the error display", "")
    if "sb-show-nopreview" in report.shows:
        return StoryError(ErrorCode.MISSING_STORY, "Storybook shows no story under this id", "")
    if shot and shot not in report.shots:
        return StoryError(ErrorCode.SHOT_NOT_REACHED, _unreached(shot, report.shots), "")
    return None


def judge_late(report: Report, waited_s: float) -> StoryError:
    """Return why a story that did not come to an end is errored."""
    if report.error is not None:
        return report.error
    why = f": {report.late.message}" if report.late else ""
    stack = report.late.stack if report.late else ""
    if report.phase == "playing":
        text = f"the play function was still running after {waited_s:.0f} s{why}"
        return StoryError(ErrorCode.PLAY_TIMEOUT, text[:MAX_MESSAGE], stack)
    phase = report.phase or "starting"
    text = f"the story was still {phase} after {waited_s:.0f} s{why}"
    return StoryError(ErrorCode.RENDER_TIMEOUT, text[:MAX_MESSAGE], stack)


def plain(text: object, limit: int) -> str:
    """Return text that can be stored and sent: bounded, whole characters, no address of ours."""
    if not isinstance(text, str):
        return ""
    return ORIGIN.sub("", whole(text[:limit]))


def whole(text: str) -> str:
    """Return text without NUL and half characters: no database, or no UTF-8, takes them."""
    return UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _unreached(shot: str, reached: tuple[str, ...]) -> str:
    names = ", ".join(repr(name) for name in reached)
    others = f"it reached {names}" if names else "it asked for none"
    text = f"the story came to its end without shot({shot!r}); {others}"
    return text[:MAX_MESSAGE]


def _shots(raw: object) -> tuple[str, ...]:
    names = raw if isinstance(raw, list) else []
    return tuple(plain(name, MAX_SHOT_NAME) for name in names[:MAX_SHOTS])


def _left(raw: object) -> tuple[str, ...]:
    texts = raw[:MAX_LEFT] if isinstance(raw, list) else []
    return tuple(text for each in texts if (text := plain(each, MAX_SHORT_TEXT)))


def _error(raw: object) -> StoryError | None:
    if not isinstance(raw, Mapping):
        return None
    code = CODES.get(str(raw.get("kind")), ErrorCode.RENDER_FAILED)
    name, message = plain(raw.get("name"), 100), plain(raw.get("message"), MAX_MESSAGE)
    named = f"{name}: {message}" if name and name != "Error" else message
    return StoryError(code, named[:MAX_MESSAGE], plain(raw.get("stack"), MAX_STACK))
