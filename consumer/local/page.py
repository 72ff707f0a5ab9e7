"""The report as one page: no file beside it but the pictures, and no script is needed to read it.

Everything a story says goes through `escape`; a policy that names our own style and script by their
hashes keeps out what would get past that.
"""

import shlex
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from urllib.parse import quote

from consumer.local.report import PHASES, Frame, Region, Report, State, StoryResult, Told
from consumer.local.tally import moving_region
from storyshelf.ids import DEFAULT_MODE
from storyshelf.snapshots.violations import Violation

STYLE = (Path(__file__).parent / "page.css").read_text()
SCRIPT = (Path(__file__).parent / "page.js").read_text()
ORDER = (State.ERRORED, State.WARNINGS, State.OK, State.SKIPPED, State.MISSING)
WORDS = {
    State.ERRORED: "Errored",
    State.WARNINGS: "Ok, with warnings",
    State.OK: "Ok",
    State.SKIPPED: "Skipped",
    State.MISSING: "Not captured",
}
MOVED = "moved"


def page_of(report: Report) -> bytes:
    """Return the page; what a person has to look at comes first."""
    stories = sorted(report.stories, key=lambda one: (not one.moved, ORDER.index(one.state)))
    slowest_ms = max((_total_ms(story) for story in stories), default=0.0) or 1.0
    cards = "\n".join(_card(story, slowest_ms) for story in stories)
    title = f"Captures of {report.storybook}"
    text = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
{_head(report)}
</header>
<nav class="bar" aria-label="Filter">{_form(report)}</nav>
<main>
{cards}
</main>
<footer><p class="soft">Keys: <kbd>/</kbd> search, <kbd>j</kbd> next story, <kbd>k</kbd> the one
before, <kbd>Esc</kbd> clears the search. The time around a picture is that of making its page, and
of the way to the browser and back. All of this is in <a href="report.json">report.json</a> too.</p>
</footer>
<script>{SCRIPT}</script>
</body>
</html>
"""
    return text.encode(errors="backslashreplace")


def _policy() -> str:
    style, script = (_hash(text) for text in (STYLE, SCRIPT))
    # A page that was opened as a file has no origin, so its pictures are named by their schemes.
    images = "img-src file: http: https:"
    return f"default-src 'none'; {images}; style-src '{style}'; script-src '{script}'"


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _head(report: Report) -> str:
    captures = sum(story.shots for story in report.stories)
    times = f", each up to {report.repeat} times" if report.repeat > 1 else ""
    lines = [
        f'<p class="soft">{escape(report.made_at)}: {captures} captures of '
        f"{len(report.stories)} pictures{times}, in {report.took_ms / 1_000:.1f} s, by storyshelf "
        f"{escape(report.version)}</p>"
    ]
    if not report.complete:
        missing = report.count(State.MISSING)
        lines.append(
            f'<p class="partial">This report is partial: the capture did not come to its end, and '
            f"{missing} pictures were not begun.</p>"
        )
    lines.extend(f"<p>{escape(note)}</p>" for note in report.notes)
    if report.environment:
        facts = "".join(
            f"<li>{escape(name)}: {escape(value)}</li>"
            for name, value in sorted(report.environment.items())
        )
        lines.append(
            f"<details><summary>What they were made with</summary><ul>{facts}</ul></details>"
        )
    return "\n".join(lines)


def _form(report: Report) -> str:
    counts = [("all", "All", len(report.stories))]
    counts += [(str(state), WORDS[state], report.count(state)) for state in ORDER]
    counts.append((MOVED, "Moved", report.moved))
    choices = "".join(
        f'<label class="choice"><input type="radio" name="state" value="{value}"'
        f"{' checked' if value == 'all' else ''}><span>{words} {count}</span></label>"
        for value, words, count in counts
        if count or value == "all"
    )
    return (
        f"<form hidden><fieldset><legend>Show</legend>{choices}</fieldset>"
        '<label class="unseen" for="search">Search in everything that is told of a story</label>'
        '<input type="search" id="search" placeholder="Search" autocomplete="off">'
        '<span class="soft" id="shown" role="status"></span></form>'
    )


def _card(story: StoryResult, slowest_ms: float) -> str:
    classes = f"{story.state}{' moved wide' if story.moved else ''}"
    mode = "" if story.mode == DEFAULT_MODE else f" <span class='soft'>{escape(story.mode)}</span>"
    parts = (
        f"<h2>{escape(story.title)} / {escape(story.name)}{mode}</h2>",
        f'<p class="soft">{escape(story.id)}</p>',
        f'<p class="verdict">{WORDS[story.state]}{_verdict_besides(story)}</p>',
        f'<p class="{"moves" if story.moved else "soft"}">{escape(story.how)}</p>'
        if story.how
        else "",
        _error(story),
        _trace(story),
        _pictures(story),
        _accessibility(story),
        _listed("Warnings", story.warnings, _told),
        _listed("Failed requests", story.failed_requests, _told),
        _folded("Console", [f"{line.level}: {line.text}" for line in story.console]),
        _timings(story, slowest_ms),
    )
    body = "\n".join(part for part in parts if part)
    label = escape(f"{story.title} / {story.name}, {story.mode}")
    return f'<article class="{classes}" tabindex="-1" aria-label="{label}">\n{body}\n</article>'


def _verdict_besides(story: StoryResult) -> str:
    fault = story.error
    if fault is not None and story.shots > 1:
        return f", {fault.times} of {story.shots} captures with this error"
    return ", but it moves" if story.moved else ""


def _error(story: StoryResult) -> str:
    if story.error is None:
        return ""
    stack = story.error.stack.strip()
    folded = _folded("Stack", [stack]) if stack else ""
    return (
        f"<h3>{escape(story.error.code.replace('_', ' '))}</h3>"
        f'<pre tabindex="0" role="group" aria-label="Message">{escape(story.error.message)}</pre>'
        f"{folded}"
    )


def _accessibility(story: StoryResult) -> str:
    findings = story.accessibility
    if findings is None:
        return ""
    if findings.problem:
        return f"<h3>Accessibility</h3><p>Not examined: {escape(findings.problem)}</p>"
    rules = "".join(_rule(violation) for violation in findings.violations)
    left = f"<p>{findings.left_out} more places</p>" if findings.left_out else ""
    return f"<h3>Accessibility: {findings.total} violations</h3><ul>{rules}</ul>{left}"


def _rule(violation: Violation) -> str:
    lines = [f"{place.target}\n{place.html}\n{place.summary}\n" for place in violation.places]
    name = f"{violation.rule}, {violation.impact}: {violation.help}"
    return f"<li>{escape(name)}{_folded('Where', lines)}</li>"


def _trace(story: StoryResult) -> str:
    if story.trace is None:
        return f'<p class="soft">{escape(story.untraced)}</p>' if story.untraced else ""
    address = escape(quote(story.trace))
    return (
        f'<p><a href="{address}" download>Trace of one more capture</a></p>'
        f'<pre tabindex="0" role="group" aria-label="How to open the trace">'
        f"npx playwright show-trace {escape(shlex.quote(story.trace))}</pre>"
    )


def _pictures(story: StoryResult) -> str:
    name = f"{story.title} / {story.name}"
    if len(story.frames) > 1:
        shown = "".join(f"<li>{_frame(story, each)}</li>" for each in story.frames if each.file)
        return f'<ul class="frames">{shown}</ul>'
    size = f"{story.frames[0].width_px} x {story.frames[0].height_px} px" if story.frames else ""
    return _picture(story.picture, name, size)


def _frame(story: StoryResult, frame: Frame) -> str:
    """Show one of the different pictures, with what moves in it framed."""
    about = f"in {frame.times} of {story.shots} captures, {frame.width_px} x {frame.height_px} px"
    if frame.changed_px:
        about += f", {frame.changed_px:,} pixels differ from the first"
    box = moving_region([frame]) or moving_region(story.frames)
    if frame.changed_px and box:
        about += f" at {box.x}, {box.y} ({box.width} x {box.height})"
    drawn = "" if box is None else _framed(box, frame)
    return _picture(frame.file, f"{story.title} / {story.name}, {about}", about, drawn)


def _framed(box: Region, frame: Frame) -> str:
    return (
        f'<svg class="moving" viewBox="0 0 {frame.width_px} {frame.height_px}" aria-hidden="true" '
        f'preserveAspectRatio="none"><rect x="{box.x - 2}" y="{box.y - 2}" '
        f'width="{box.width + 4}" height="{box.height + 4}"/></svg>'
    )


def _picture(file: str | None, alternative: str, about: str, over: str = "") -> str:
    if file is None:
        return ""
    address = escape(quote(file))
    return (
        f'<a class="shot" href="{address}"><img src="{address}" loading="lazy" '
        f'alt="{escape(alternative)}">{over}</a><p class="soft">{escape(about)}</p>'
    )


def _listed(heading: str, told: Sequence[Told], line: Callable[[Told], str]) -> str:
    if not told:
        return ""
    return f"<h3>{heading}</h3><ul>{''.join(f'<li>{line(one)}</li>' for one in told)}</ul>"


def _told(told: Told) -> str:
    times = f" ({told.times} times)" if told.times > 1 else ""
    return f"{escape(told.code.replace('_', ' '))}: {escape(told.text)}{times}"


def _folded(heading: str, lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    if not text:
        return ""
    count = len(text.splitlines())
    return (
        f"<details><summary>{heading} ({count} line{'s' * (count > 1)})</summary>"
        f'<pre tabindex="0" role="group" aria-label="{heading}">{escape(text)}</pre></details>'
    )


def _total_ms(story: StoryResult) -> float:
    return sum(story.timings_ms.get(phase, 0.0) for phase in PHASES)


def _timings(story: StoryResult, slowest_ms: float) -> str:
    """Draw the phases one after the other; the slowest story's bar is as wide as its card."""
    if not story.timings_ms:
        return ""
    drawn, words, left = [], [], 0.0
    for phase in PHASES:
        if phase not in story.timings_ms:
            continue
        took_ms = story.timings_ms[phase]
        width = 100 * took_ms / slowest_ms
        drawn.append(f'<rect class="{phase}" x="{left:.2f}" width="{width:.2f}" height="10"/>')
        words.append(f'<span class="phase {phase}">{phase} {took_ms:.0f} ms</span>')
        left += width
    around_ms = max(story.took_ms - left * slowest_ms / 100, 0.0)
    words.append(f'<span class="total">around it {around_ms:.0f} ms</span>')
    words.append(f'<span class="total">in all {story.took_ms:.0f} ms</span>')
    return (
        '<svg class="time" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(drawn)}</svg><p>{''.join(words)}</p>"
    )
