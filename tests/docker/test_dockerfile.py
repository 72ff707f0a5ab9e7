"""What the images are made of, as far as it can be told without building them."""

import re
import subprocess
from importlib import metadata

import pytest
from packaging.requirements import Requirement

from consumer.privileges import NEEDED
from docker.container import CAPABILITIES
from tests.docker.composed import DOCKER, REPOSITORY, TOOLS
from tests.docker.dockerfile import last, stages

IMAGES = ("server", "consumer")


def hadolint(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [TOOLS / "hadolint", "-"], input=text, capture_output=True, text=True, check=False
    )


def copied_from_here() -> set[str]:
    """Return every path of this clone that a COPY names."""
    copies = (each.rest for stage in stages().values() for each in stage if each.word == "COPY")
    return {path for rest in copies if "--from" not in rest for path in rest.split()[:-1]}


def sent_to_the_builder() -> list[str]:
    """Return the patterns that .dockerignore makes exceptions of its first line, which is all."""
    lines = (REPOSITORY / ".dockerignore").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    return [rule.removeprefix("!").rstrip("/") for rule in rules if rule.startswith("!")]


def test_the_linter_has_nothing_to_say() -> None:
    done = hadolint((DOCKER / "Dockerfile").read_text())
    assert (done.stdout, done.returncode) == ("", 0)


def test_the_linter_would_say_so() -> None:
    done = hadolint("FROM debian:latest\nRUN cd /tmp\n")
    assert done.returncode != 0
    assert "DL3007" in done.stdout


def test_nothing_is_run_from_a_heredoc() -> None:
    assert "<<" not in (DOCKER / "Dockerfile").read_text()


def test_every_stage_stands_on_the_one_base_or_on_another_stage() -> None:
    bases = {stage[0].rest.split()[0] for stage in stages().values()}
    assert bases == {"${BASE}", "runtime"}


def test_what_is_copied_is_sent_to_the_builder_and_is_there() -> None:
    sent = sent_to_the_builder()
    copied = {path.rstrip("/") for path in copied_from_here()}
    assert "storyshelf" in copied
    for path in copied:
        assert (REPOSITORY / path).exists(), path
        assert any(rule == path or rule.startswith(f"{path}/") for rule in sent), path


@pytest.mark.parametrize("image", IMAGES)
def test_a_signal_reaches_the_program_and_its_orphans_are_reaped(image: str) -> None:
    assert last(image, "ENTRYPOINT").program[:2] == ["tini", "--"]
    assert last(image, "STOPSIGNAL").rest == "SIGTERM"


@pytest.mark.parametrize(
    ("image", "port"), [("server", "STORYSHELF_PORT"), ("consumer", "STORYSHELF_HEALTH_PORT")]
)
def test_each_image_is_asked_for_its_health_on_the_port_it_sets(image: str, port: str) -> None:
    command = last(image, "HEALTHCHECK").program
    assert command == ["python3", "/usr/local/lib/storyshelf/healthy.py", port]
    assert re.search(rf"\b{port}=[1-9]", last(image, "ENV").rest)


def test_the_server_runs_as_a_numbered_user_that_is_not_root() -> None:
    # By number: an orchestrator that refuses root has to see that it is none.
    assert last("server", "USER").rest == "10001:10001"


def test_the_consumer_keeps_the_capabilities_that_isolation_needs_and_no_other() -> None:
    wanted = ",".join(["-all", *(f"+{name.lower()}" for name in CAPABILITIES["consumer"])])
    program = last("consumer", "ENTRYPOINT").program
    assert f"--inh-caps={wanted}" in program
    assert f"--ambient-caps={wanted}" in program
    assert "--reuid=storyshelf" in program
    assert set(CAPABILITIES["consumer"]) == set(NEEDED)


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_says_what_it_is(image: str) -> None:
    inherited = "".join(each.rest for each in stages()["runtime"] if each.word == "LABEL")
    labels = inherited + last(image, "LABEL").rest
    for name in ("title", "description", "licenses", "version", "revision"):
        assert f"org.opencontainers.image.{name}=" in labels, name


def test_the_build_backend_comes_hashed_with_all_it_asks_for() -> None:
    (names,) = re.findall(r"wanted = /\^\(([^)]+)\)==/", (DOCKER / "Dockerfile").read_text())
    asked = [Requirement(each) for each in metadata.requires("hatchling") or ()]
    needed = {each.name for each in asked if each.marker is None or each.marker.evaluate()}
    assert set(names.split("|")) == needed | {"hatchling"}
