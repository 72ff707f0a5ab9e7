"""How the service stands, as `storyshelf queue` prints it: tables for people, or one document."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from storyshelf.cli.columns import columns
from storyshelf.operations.alarm_words import words_on
from storyshelf.operations.overview import Overview
from storyshelf.queue.store import ConsumerState
from storyshelf.ui.view_models.alarms import AlarmLine, alarm_line
from storyshelf.ui.view_models.job_lines import CLASS_WORDS
from storyshelf.ui.view_models.kinds import KindLine, kind_line
from storyshelf.ui.view_models.operations import LaneLine, lane_line

LANE_HEAD = ("LANE", "CLASS", "QUEUED", "DEFERRED", "PARKED", "RUNNING", "OLDEST", "CONSUMERS")
KIND_HEAD = (
    *("KIND", "A MINUTE", "COMPLETED", "RETRIED", "FAILED", "OTHER"),
    *("WAIT P50", "WAIT P95", "RUN P50", "RUN P95"),
)
NO_FIGURES = "No attempt at a job has ended."


def overview_lines(found: Overview, now: datetime) -> Sequence[str]:
    """Return everything in lines."""
    lanes = [_lane(lane_line(load, found.consumers, now)) for load in found.loads]
    kinds = [_kind(kind_line(each)) for each in found.kinds]
    alarms = [_alarm(alarm_line(alarm, now)) for alarm in found.alarms]
    return [
        *(columns(LANE_HEAD, lanes) if lanes else ["Nothing waits and nothing runs."]),
        *_titled("The last hour", columns(KIND_HEAD, kinds) if kinds else [NO_FIGURES]),
        *_titled("Alarms", alarms),
        *_titled("Leader", [_leader(found)]),
    ]


def overview_document(found: Overview) -> Mapping[str, Any]:
    """Return everything for a machine; depths above a thousand are estimates."""
    return {
        "lanes": [{**asdict(load), "class": CLASS_WORDS[load.priority]} for load in found.loads],
        "kinds": [asdict(each) for each in found.kinds],
        "alarms": [
            {**asdict(alarm), "advice": words_on(alarm.name).advice} for alarm in found.alarms
        ],
        "consumers": {
            state.value: sum(one.state is state for one in found.consumers)
            for state in ConsumerState
        },
        "leader": None if found.leading is None else asdict(found.leading),
    }


def _titled(title: str, lines: Sequence[str]) -> Sequence[str]:
    return ["", f"{title}:", *lines] if lines else []


def _lane(line: LaneLine) -> Sequence[str]:
    return (
        *(line.lane, line.class_, line.queued, line.deferred, line.parked, line.running),
        *("-" if line.oldest is None else line.oldest.words, str(line.consumers or "none")),
    )


def _kind(line: KindLine) -> Sequence[str]:
    return (
        *(line.kind, line.per_minute, f"{line.completed:,}", f"{line.retried:,}"),
        *(f"{line.failed:,}", f"{line.others:,}", *line.wait, *line.run),
    )


def _alarm(line: AlarmLine) -> str:
    return f"  {line.what} ({line.times}, last {line.last.words}). {line.advice}"


def _leader(found: Overview) -> str:
    if found.leading is None:
        return "  nobody: figures, alarms and clean-up stand still until one does"
    return f"  {found.leading.holder}, term {found.leading.term}"
