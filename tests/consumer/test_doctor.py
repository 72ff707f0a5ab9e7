"""What the doctor finds on machines that are well and on others."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from consumer.browsers import Browser, BrowserKind, BrowserSource, Sandbox
from consumer.commands import Ran
from consumer.doctor import (
    Examination,
    examine,
    main,
    probe_engine,
    probe_fonts,
    probe_isolation,
    probe_memory,
    tiny_png,
)
from consumer.isolation import ChildUser, Form, Ground, Isolation
from consumer.probe import Finding, Probe, UnfitMachineError, require_fit
from consumer.slot_uids import FIRST_UID, SlotUids
from storyshelf.clock import SystemClock
from storyshelf.diff.outcome import Outcome
from storyshelf.diff.png import decode
from storyshelf.diff.verdict import Comparison, compare_pngs

STRONGEST = Isolation(
    Ground(
        Browser(Path("/bin/browser"), BrowserKind.CHROMIUM, BrowserSource.SYSTEM),
        Path("/nowhere"),
        SlotUids(Path("/nowhere")),
        {},
    ),
    Form.STRONG,
    ChildUser.SLOT,
    Sandbox.ON,
)


def by_name(probes: tuple[Probe, ...]) -> dict[str, Probe]:
    return {each.name: each for each in probes}


def an_examination(data: Path, browser: Path | None = None) -> Examination:
    return Examination(browser, data / "scratch", FIRST_UID, os.environ)


@pytest.mark.browser
async def test_this_machine_captures_a_page_through_a_real_child(tmp_path: Path) -> None:
    found = by_name(await examine(an_examination(tmp_path), SystemClock()))
    assert {"engine", "fonts", "memory", "browser", "isolation"} == set(found)
    assert found["browser"].finding is Finding.OK
    assert "captured a page" in found["browser"].detail
    assert "form" in found["isolation"].detail
    require_fit(found.values())


@pytest.mark.browser
async def test_a_browser_that_starts_and_shows_nothing_is_a_failure(tmp_path: Path) -> None:
    broken = tmp_path / "chrome"
    broken.write_text('#!/bin/sh\necho "missing library" >&2\nexit 127\n')
    broken.chmod(0o755)
    found = by_name(await examine(an_examination(tmp_path, broken), SystemClock()))
    assert found["browser"].is_failed
    assert "apt install" in found["browser"].cure
    assert "engine" in found


async def test_without_the_browser_everything_else_is_still_examined(tmp_path: Path) -> None:
    found = by_name(await examine(an_examination(tmp_path, Path("/gone")), SystemClock()))
    assert found["browser"].is_failed
    assert "/gone" in found["browser"].detail
    assert found["engine"].finding is Finding.OK


def test_the_engine_of_this_machine_tells_one_pixel() -> None:
    assert probe_engine().finding is Finding.OK


@pytest.mark.parametrize("outcome", [Outcome.IDENTICAL, Outcome.CHANGED, Outcome.UNDECODABLE])
def test_an_engine_that_always_says_the_same_is_found_out(outcome: Outcome) -> None:
    probe = probe_engine(lambda base, head: Comparison(outcome, "always", changed_px=1))
    assert probe.is_failed
    assert "compares wrongly" in probe.detail


def test_an_engine_that_counts_wrongly_is_found_out() -> None:
    assert probe_engine(
        lambda base, head: replace(compare_pngs(base, head), changed_px=2)
    ).is_failed


def test_an_engine_that_breaks_is_told_with_its_error() -> None:
    def broken(base: bytes, head: bytes) -> Comparison:
        raise ImportError("libpng.so: cannot open")

    probe = probe_engine(broken)
    assert probe.is_failed
    assert "libpng.so" in probe.detail


def test_the_test_picture_is_white_but_for_its_spots() -> None:
    pixels = decode(tiny_png({(3, 4): (255, 0, 0)}))
    assert pixels.shape == (8, 8, 4)
    assert pixels[4, 3].tolist() == [255, 0, 0, 255]
    assert (pixels == 255).all(axis=2).sum() == 63


@pytest.mark.parametrize(
    ("listed", "finding", "detail"),
    [
        (Ran(0, "DejaVu Sans\nNoto\nNoto\n\n", ""), Finding.OK, "2 families"),
        (Ran(0, "\n", ""), Finding.WARN, "boxes"),
        (Ran(127, "", "fc-list: No such file or directory"), Finding.WARN, "No such file"),
    ],
)
def test_missing_fonts_are_a_warning_with_a_cure(
    listed: Ran, finding: Finding, detail: str
) -> None:
    probe = probe_fonts(listed)
    assert (probe.finding, detail in probe.detail) == (finding, True)
    assert bool(probe.cure) == (finding is Finding.WARN)


@pytest.mark.parametrize(
    ("limit", "finding"),
    [(None, Finding.OK), (512 << 20, Finding.WARN), (4 << 30, Finding.OK)],
)
def test_too_little_memory_is_a_warning(limit: int | None, finding: Finding) -> None:
    assert probe_memory(limit).finding is finding


def test_the_strongest_form_needs_no_cure() -> None:
    assert probe_isolation(STRONGEST) == Probe("isolation", Finding.OK, STRONGEST.describe())


@pytest.mark.parametrize(
    ("weaker", "cure"),
    [
        (replace(STRONGEST, sandbox=Sandbox.OFF, reasons=("x",)), "user namespaces"),
        (replace(STRONGEST, form=Form.WEAK, reasons=("x",)), "SETUID"),
        (replace(STRONGEST, child_user=ChildUser.PARENT, reasons=("x",)), "every user may read"),
    ],
)
def test_a_weaker_form_is_a_warning_with_the_way_to_a_stronger(
    weaker: Isolation, cure: str
) -> None:
    probe = probe_isolation(weaker)
    assert probe.finding is Finding.WARN
    assert cure in probe.cure


def test_a_machine_is_unfit_by_the_first_failure_and_its_cure() -> None:
    probes = [
        Probe("fonts", Finding.WARN, "none", "apt"),
        Probe("browser", Finding.FAIL, "gone", "install one"),
        Probe("engine", Finding.FAIL, "broken", "install again"),
    ]
    with pytest.raises(UnfitMachineError, match=r"gone \(browser\)\. install one"):
        require_fit(probes)
    require_fit(probes[:1])


def test_a_finding_is_one_line_and_its_cure_another() -> None:
    assert Probe("fonts", Finding.OK, "11 families").line() == "ok    fonts: 11 families"
    assert Probe("fonts", Finding.WARN, "none", "apt").line() == "warn  fonts: none\n      apt"


def test_the_command_ends_with_1_and_tells_a_machine_what_failed(tmp_path: Path) -> None:
    command = ["-m", "consumer.doctor", "--json", "--data-dir", str(tmp_path), "--browser", "/gone"]
    ended = subprocess.run(
        [sys.executable, *command],
        env=dict(os.environ) | {"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
    )
    findings = {each["name"]: each["finding"] for each in json.loads(ended.stdout)}
    assert (ended.returncode, findings["browser"], findings["engine"]) == (1, "fail", "ok")


def test_the_command_needs_to_know_where_the_data_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "--data-dir" in capsys.readouterr().err
