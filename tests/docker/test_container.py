"""The command lines that run a container of either image."""

from pathlib import Path

from docker.container import (
    SECCOMP,
    Container,
    buildah_from_arguments,
    buildah_run_arguments,
    docker_arguments,
)

IMAGE = {"Entrypoint": ["tini", "--", "storyshelf"], "Cmd": ["serve"]}


def program(wanted: Container) -> list[str]:
    arguments = buildah_run_arguments(wanted, "made-1", IMAGE)
    assert arguments[arguments.index("--") - 1] == "made-1"
    return arguments[arguments.index("--") + 1 :]


def test_without_arguments_the_images_own_command_runs() -> None:
    assert program(Container("a", "server")) == ["tini", "--", "storyshelf", "serve"]


def test_arguments_stand_after_the_entry_point() -> None:
    migrate = Container("a", "server", ("migrate",))
    assert program(migrate) == ["tini", "--", "storyshelf", "migrate"]
    assert docker_arguments(migrate)[-2:] == ["storyshelf-server", "migrate"]


def test_another_entry_point_takes_the_place_of_both() -> None:
    health = Container("a", "server", entry_point=("python3", "healthy.py", "PORT"))
    assert program(health) == ["python3", "healthy.py", "PORT"]
    told = docker_arguments(health)
    assert "--entrypoint=python3" in told
    assert told[-3:] == ["storyshelf-server", "healthy.py", "PORT"]


def test_only_a_consumer_keeps_capabilities_and_has_a_profile_of_its_own() -> None:
    consumer, server = Container("a", "consumer"), Container("a", "server")
    assert "--cap-add=SETUID" in docker_arguments(consumer)
    assert f"--security-opt=seccomp={SECCOMP}" in buildah_from_arguments(consumer)
    for told in (docker_arguments(server), buildah_from_arguments(server)):
        assert not [each for each in told if "cap-add" in each or "seccomp" in each]


def test_what_it_is_given_is_told_to_either() -> None:
    given = Container("a", "server", environment={"X": "1"}, mounts={Path("/here"): "/there:ro"})
    for told in (docker_arguments(given), buildah_run_arguments(given, "made-1", IMAGE)):
        assert {"--env=X=1", "--env=STORYSHELF_CONTAINER=a", "--volume=/here:/there:ro"} <= set(
            told
        )
