"""Examines this machine as a consumer: engine, browser, isolation, fonts and memory, by trying."""

import argparse
import asyncio
import json
import os
import struct
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import structlog

from consumer.allowance import memory_limit_bytes
from consumer.browsers import Sandbox, find_browser, system_search
from consumer.commands import Ran, run
from consumer.isolation import ChildUser, Form, Ground, Isolation, choose_isolation
from consumer.privileges import NEEDED
from consumer.probe import Finding, Probe, failed
from consumer.scratch import open_scratch
from consumer.slot_uids import FIRST_UID, SlotUids, locks_folder
from consumer.trial import try_child
from storyshelf.clock import Clock, SystemClock
from storyshelf.diff.outcome import Outcome
from storyshelf.diff.png_header import SIGNATURE
from storyshelf.diff.verdict import Comparison, compare_pngs
from storyshelf.errors import StoryshelfError

FONTS_CURE = "apt install fontconfig fonts-dejavu-core fonts-liberation fonts-noto-color-emoji"
REINSTALL = "Install the package again, for this machine's architecture."
ENOUGH_BYTES = 2 << 30  # a browser on a large Storybook takes 1 GB, its child and ours the rest
FONTS_S = 10.0  # a cold font cache
SIDE_PX = 8


@dataclass(frozen=True, slots=True)
class Examination:
    """What to examine with."""

    browser: Path | None
    scratch: Path
    first_uid: int
    environ: Mapping[str, str]


async def examine(wanted: Examination, clock: Clock) -> tuple[Probe, ...]:
    """Try everything; whatever fails is a finding, and the rest is tried all the same."""
    fonts = await run(["fc-list", ":", "family"], wanted.environ, FONTS_S)
    surroundings = (probe_engine(), probe_fonts(fonts), probe_memory(memory_limit_bytes()))
    return (*surroundings, *await _browser_probes(wanted, clock))


def probe_engine(compare: Callable[[bytes, bytes], Comparison] = compare_pngs) -> Probe:
    """Compare two pictures whose difference is known."""
    base, head = tiny_png({}), tiny_png({(3, 4): (255, 0, 0)})
    try:
        same, other = compare(base, tiny_png({}, level=0)), compare(base, head)
    except Exception as error:  # noqa: BLE001  # a library that does not work here may raise anything
        return Probe("engine", Finding.FAIL, f"it does not compare: {error!r}", REINSTALL)
    if same.outcome is not Outcome.IDENTICAL or (other.outcome, other.changed_px) != (
        Outcome.CHANGED,
        1,
    ):
        seen = f"{same.outcome} for equal pictures, {other.changed_px} changed pixels for one"
        return Probe("engine", Finding.FAIL, f"it compares wrongly: {seen}", REINSTALL)
    detail = f"{other.engine} {other.engine_version} with {other.metric} tells one pixel"
    return Probe("engine", Finding.OK, detail)


def probe_fonts(listed: Ran) -> Probe:
    """Judge what fontconfig lists."""
    families = {line for line in listed.output.splitlines() if line.strip()}
    if listed.returncode != 0:
        return Probe("fonts", Finding.WARN, f"not listed: {listed.last_line}", FONTS_CURE)
    if not families:
        return Probe("fonts", Finding.WARN, "none: text is drawn as boxes", FONTS_CURE)
    return Probe("fonts", Finding.OK, f"{len(families)} families")


def probe_memory(limit_bytes: int | None) -> Probe:
    """Judge the limit of our control group."""
    if limit_bytes is None:
        return Probe("memory", Finding.OK, "no limit but the machine's")
    detail = f"limited to {limit_bytes >> 20} MiB"
    if limit_bytes < ENOUGH_BYTES:
        cure = f"Give each browser about {ENOUGH_BYTES >> 30} GiB, or expect children to be killed."
        return Probe("memory", Finding.WARN, detail, cure)
    return Probe("memory", Finding.OK, detail)


def probe_isolation(isolation: Isolation) -> Probe:
    """Name the form; anything but the strongest is a warning with the way to it."""
    return Probe(
        "isolation",
        Finding.WARN if isolation.reasons else Finding.OK,
        isolation.describe(),
        _isolation_cure(isolation),
    )


async def probe_child(isolation: Isolation, clock: Clock) -> Probe:
    """Capture one page through a real child."""
    try:
        trial = await try_child(isolation, clock)
    except StoryshelfError as error:
        return failed("browser", error)
    browser = isolation.ground.browser
    version = trial.facts.get("version", "of unknown version")
    detail = (
        f"{browser.kind} {version} from {browser.source} ({browser.path}) captured a page of "
        f"{trial.width_px}x{trial.height_px} px in {trial.took_ms} ms, start and stop included"
    )
    return Probe("browser", Finding.OK, detail)


def tiny_png(spots: Mapping[tuple[int, int], tuple[int, int, int]], level: int = 9) -> bytes:
    """Return a white PNG of 8 x 8 with these pixels in other colours."""
    rows = [
        b"\0" + b"".join(bytes(spots.get((x, y), (255, 255, 255))) for x in range(SIDE_PX))
        for y in range(SIDE_PX)
    ]
    header = struct.pack(">IIBBBBB", SIDE_PX, SIDE_PX, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows), level)), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(kind, data) for kind, data in parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was found; 1 if a consumer must not work here."""
    asked = _parser().parse_args(arguments)
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger("error"),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    scratch = asked.data_dir / "scratch"
    wanted = Examination(asked.browser, scratch, asked.first_uid, os.environ)
    probes = asyncio.run(examine(wanted, SystemClock()))
    told = json.dumps([asdict(each) for each in probes]) if asked.json else _report(probes)
    sys.stdout.write(f"{told}\n")
    return int(any(each.is_failed for each in probes))


async def _browser_probes(wanted: Examination, clock: Clock) -> tuple[Probe, ...]:
    try:
        browser = find_browser(wanted.browser, system_search(wanted.environ))
        uids = SlotUids(locks_folder(), wanted.first_uid)
        with open_scratch(wanted.scratch) as scratch:
            isolation = await choose_isolation(Ground(browser, scratch, uids, wanted.environ))
            return await probe_child(isolation, clock), probe_isolation(isolation)
    except StoryshelfError as error:
        return (failed("browser", error),)


def _isolation_cure(isolation: Isolation) -> str:
    if isolation.sandbox is Sandbox.OFF:
        return "Allow user namespaces, so that Chromium's sandbox can start."
    if isolation.form is Form.WEAK:
        return (
            "It works; for Storybooks of people you do not trust, run as root or give the parent "
            f"{', '.join(NEEDED)}."
        )
    if isolation.child_user is ChildUser.PARENT:
        return "It works; stronger still with Python and this package where every user may read."
    return ""


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _report(probes: Sequence[Probe]) -> str:
    return "\n".join(each.line() for each in probes)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m consumer.doctor", description=__doc__)
    parser.add_argument("--json", action="store_true", help="for a machine to read")
    parser.add_argument(
        "--data-dir", type=Path, required=True, help="where the consumer keeps data"
    )
    parser.add_argument("--browser", type=Path, help="executable; else it is looked for")
    parser.add_argument("--first-uid", type=int, default=FIRST_UID, help="of the browsers")
    return parser


if __name__ == "__main__":
    sys.exit(main())
