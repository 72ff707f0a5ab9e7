"""What GitHub Actions reads of a command: a step's outputs, and a warning on the run's page."""

from collections.abc import Mapping
from pathlib import Path

from storyshelf.client.answers import Build
from storyshelf.client.exit_codes import ExitCode
from storyshelf.client.summary import DECIDABLE, Line, clean

SHOT = (*DECIDABLE, "unchanged", "errored")


def outputs_of(build: Build, code: ExitCode) -> dict[str, str]:
    """Return the outputs, under the names that workflows of this field use already."""
    counts = build.counts
    storybook = build.storybook_url
    found = {
        "code": int(code),
        "buildNumber": build.number,
        "buildUrl": build.url,
        "url": build.url,
        "storybookUrl": storybook or "",
        "testCount": sum(counts.get(verdict, 0) for verdict in (*SHOT, "inherited")),
        "changeCount": sum(counts.get(verdict, 0) for verdict in DECIDABLE),
        "errorCount": counts.get("errored", 0),
        "actualCaptureCount": sum(counts.get(verdict, 0) for verdict in SHOT),
        "inheritedCaptureCount": counts.get("inherited", 0),
    }
    return {name: clean(str(value)) for name, value in found.items()}


def write_outputs(environ: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    """Append the outputs to the file that the runner named; elsewhere there is none."""
    if path := environ.get("GITHUB_OUTPUT"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.writelines(f"{name}={value}\n" for name, value in outputs.items())


def annotation(environ: Mapping[str, str], text: str) -> list[Line]:
    """Return the line that has the run's page show a warning; elsewhere the log is all."""
    if environ.get("GITHUB_ACTIONS") != "true":
        return []
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return [Line(f"::warning title=storyshelf::{escaped}", "faint")]
