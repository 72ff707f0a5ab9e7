"""The comment on a pull request: numbers in a table, and no word of it that anybody else wrote.

Names of branches, projects and stories are whatever people like, and a comment is read as Markdown:
each stands in a code span of its own, in which there are no links, mentions or tags.
"""

import re
from collections.abc import Sequence

from storyshelf.deliveries.message import (
    CHECKS,
    MAX_DESCRIPTION,
    BuildFacts,
    Check,
    shortened,
)
from storyshelf.deliveries.wish import CommentWish
from storyshelf.snapshots.snapshot import Verdict

MAX_NAME = 120
SHORT_COMMIT = 10
TICKS = re.compile("`+")
SIGNS = {
    Check.WORKING: "⏳",
    Check.WAITING: "👀",
    Check.SUCCESS: "✅",
    Check.FAILURE: "❌",
    Check.ERROR: "⚠️",
    Check.CANCELLED: "🚫",
}
SHOWN = (
    Verdict.CHANGED,
    Verdict.ADDED,
    Verdict.REMOVED,
    Verdict.UNSTABLE,
    Verdict.ERRORED,
    Verdict.UNCHANGED,
)


def numbers_of(facts: BuildFacts) -> tuple[tuple[str, int], ...]:
    """Return the lines of the table: what is not there has none, nor what still changes."""
    if CHECKS[facts.state] is Check.WORKING:
        return ()
    counts = facts.counts
    lines = [(str(verdict), counts.of(verdict)) for verdict in SHOWN]
    lines += [("to review", counts.undecided), ("accepted", counts.accepted)]
    lines += [("denied", counts.denied)]
    return tuple((name, count) for name, count in lines if count)


def marker_of(marker: str) -> str:
    """Return the line that a comment of ours begins with, and that nobody sees."""
    return f"<!-- storyshelf {marker} -->"


def comment_body(wish: CommentWish, root: str, marker: str) -> str:
    """Return the Markdown of the comment; `root` is the server's own address."""
    page = f"{root}{wish.path}"
    links = [f"[Build {wish.number}]({page})"]
    if wish.storybook_path is not None:
        links.append(f"[Storybook]({root}{wish.storybook_path})")
    commit = code(wish.commit[:SHORT_COMMIT])
    return "\n".join(
        [
            marker_of(marker),
            f"### {SIGNS[wish.check]} {code(wish.project_name)}",
            "",
            code(wish.headline, MAX_DESCRIPTION),
            "",
            *_table(wish.numbers),
            f"{' · '.join(links)} · commit {commit} on {code(wish.branch)}",
        ]
    )


def code(text: str, most: int = MAX_NAME) -> str:
    """Return the text as a code span of one line, whatever it holds."""
    line = shortened(text, most) or "?"
    longest = max((len(run) for run in TICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}" if longest else f"{fence}{line}{fence}"


def _table(numbers: Sequence[tuple[str, int]]) -> Sequence[str]:
    if not numbers:
        return ()
    lines = [f"| {name} | {count} |" for name, count in numbers]
    return ("| snapshots | |", "|---|---:|", *lines, "")
