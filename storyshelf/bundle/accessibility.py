"""What a project and a story want of accessibility checks, in words and in axe's own settings.

Storybook's own parameter is read (`parameters.a11y`), so that its addon and our run look for the
same. What it says there of elements cannot leave the page, and functions neither: selectors can.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from storyshelf.bundle.reader import Reader

MAX_CHECKS = 4_000  # characters of what is looked for, as JSON
MAX_ENTRIES = 50  # of each of its lists, as many as leave the page
RULE_SETTINGS = ("enabled", "reviewOnFail", "selector")


class Accessibility(StrEnum):
    """What is done about a story's accessibility, each doing more than the one before."""

    OFF = "off"
    ADDON = "addon"  # what Storybook's addon reports is recorded
    RECORD = "record"  # where it reports nothing, axe is run
    BLOCK = "block"  # a violation that the baseline has not has to be decided


class Severity(StrEnum):
    """What Storybook's own `a11y.test` may say."""

    OFF = "off"
    TODO = "todo"  # the addon's default, so it tells nothing of its author
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class AccessibilityWish:
    """A story's: its own word, Storybook's, and what to look for as JSON (see `checks_of`)."""

    own: Accessibility | None = None
    severity: Severity | None = None
    checks: str = ""

    def at(self, project: Accessibility) -> Accessibility:
        """Return what is done about the story in a project that does that."""
        if self.own is not None:
            return self.own
        if self.severity is Severity.OFF:
            return Accessibility.OFF
        if self.severity is Severity.ERROR and project is Accessibility.RECORD:
            return Accessibility.BLOCK
        return project


NO_WISH = AccessibilityWish()


def read_wish(reader: Reader, ours: object, storybooks: object) -> AccessibilityWish:
    """Read `storyshelf.accessibility`, a word, and Storybook's `a11y` as it left the page."""
    own = None
    if ours is not None:
        own = reader.choice({"accessibility": ours}, "accessibility", Accessibility)
    if not isinstance(storybooks, Mapping):
        return AccessibilityWish(own)
    severity = next((each for each in Severity if each.value == storybooks.get("test")), None)
    if storybooks.get("disable") is True:
        severity = Severity.OFF
    checks = checks_of(storybooks)
    if len(checks) > MAX_CHECKS:
        reader.warn("a11y", storybooks, f"has more than {MAX_CHECKS} characters, not followed")
        checks = ""
    return AccessibilityWish(own, severity, checks)


def checks_of(asked: Mapping[str, Any]) -> str:
    """Return what is understood of it: `rules`, `switched`, `runOnly`, `include`, `exclude`.

    `rules` are of axe's configuration, `switched` of a run's options; empty for nothing.
    """
    understood = {
        "rules": _rules(asked.get("rules")),
        "switched": _switched(asked.get("switched")),
        "runOnly": _run_only(asked.get("runOnly")),
        "include": _texts(asked.get("include")),
        "exclude": _texts(asked.get("exclude")),
    }
    said = {name: value for name, value in understood.items() if value}
    return json.dumps(said, sort_keys=True, separators=(",", ":")) if said else ""


def _rules(raw: object) -> list[dict[str, str | bool]]:
    entries = raw if isinstance(raw, list) else []
    return [
        {"id": entry["id"], **_settings(entry)}
        for entry in entries[:MAX_ENTRIES]
        if isinstance(entry, Mapping) and isinstance(entry.get("id"), str)
    ]


def _settings(entry: Mapping[str, Any]) -> dict[str, str | bool]:
    kinds = {"enabled": bool, "reviewOnFail": bool, "selector": str}
    return {name: entry[name] for name in RULE_SETTINGS if isinstance(entry.get(name), kinds[name])}


def _switched(raw: object) -> dict[str, bool]:
    entries: Iterable[tuple[object, object]] = raw.items() if isinstance(raw, Mapping) else ()
    return {str(name): on for name, on in entries if isinstance(on, bool)}


def _run_only(raw: object) -> dict[str, Any]:
    """Read `{ type, values }`, which may also be the values alone: they are tags then."""
    if not isinstance(raw, Mapping):
        return {"type": "tag", "values": _texts(raw)} if _texts(raw) else {}
    kind = "rule" if raw.get("type") in {"rule", "rules"} else "tag"
    values = _texts(raw.get("values"))
    return {"type": kind, "values": values} if values else {}


def _texts(raw: object) -> list[str]:
    entries = [raw] if isinstance(raw, str) else raw
    if not isinstance(entries, list):
        return []
    return [each for each in entries[:MAX_ENTRIES] if isinstance(each, str) and _is_told(each)]


def _is_told(text: str) -> bool:
    """Tell whether it is a text of the author, not what stands for something else in the page."""
    return bool(text) and text not in {"[object]", "[function]", "[undefined]"}
