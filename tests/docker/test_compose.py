"""What `docker compose up` starts, and what each part may do."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from consumer.launcher import LAST_RESORT_S
from consumer.privileges import NEEDED
from docker.container import CAPABILITIES
from docker.smoke import BLOBS
from storyshelf.settings import PREFIX, Settings
from tests.docker.composed import (
    DOCKER,
    SECRETS,
    TOOLS,
    example_environment,
    read_compose,
    services,
)
from tests.docker.dockerfile import last

OURS = ("migrate", "server", "consumer")
SETTINGS = {f"{PREFIX}{name}".upper() for name in Settings.model_fields}
SECONDS = {"s": 1, "m": 60}


@pytest.fixture(scope="module")
def composed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The services as an engine would read them."""
    return services(tmp_path_factory.mktemp("compose"))


def seconds(text: str) -> int:
    return sum(int(n) * SECONDS[unit] for n, unit in re.findall(r"(\d+)([ms])", text))


def waits_for(service: dict[str, Any]) -> dict[str, str]:
    return {name: each["condition"] for name, each in service["depends_on"].items()}


def schema_check(file: Path) -> int:
    program = str(TOOLS / "check-jsonschema")
    command = [program, "--builtin-schema", "vendor.compose-spec", str(file)]
    return subprocess.run(command, capture_output=True, check=False).returncode


def test_it_is_what_the_compose_specification_describes() -> None:
    assert schema_check(DOCKER / "compose.yaml") == 0


def test_a_misspelt_key_would_be_found(tmp_path: Path) -> None:
    wrong = tmp_path / "compose.yaml"
    wrong.write_text(
        (DOCKER / "compose.yaml").read_text().replace("    shm_size:", "    smh_size:")
    )
    assert schema_check(wrong) != 0


@pytest.mark.parametrize("secret", sorted(SECRETS))
def test_it_does_not_start_without_a_secret(tmp_path: Path, secret: str) -> None:
    done = read_compose(tmp_path, {name: x for name, x in SECRETS.items() if name != secret})
    assert done.stdout == ""
    assert f"{secret} is missing a value" in done.stderr
    assert "docker/example.env" in done.stderr


def test_the_example_names_all_that_can_be_set_and_holds_no_secret() -> None:
    asked = set(re.findall(r"\$\{(\w+)", (DOCKER / "compose.yaml").read_text()))
    example = example_environment()
    assert asked <= set(example)
    assert {name: example[name] for name in SECRETS} == dict.fromkeys(SECRETS, "")


def test_what_the_example_says_by_default_is_what_holds_without_it(tmp_path: Path) -> None:
    said = {name: value for name, value in example_environment().items() if value}
    images = {name for name in said if name.endswith("_IMAGE")}  # shown as comments
    kept = {name: value for name, value in said.items() if name not in images}
    assert services(tmp_path, kept | SECRETS) == services(tmp_path)


@pytest.mark.parametrize("name", OURS)
def test_every_variable_that_a_program_is_given_is_a_setting(
    composed: dict[str, Any], name: str
) -> None:
    given = set(composed[name]["environment"])
    assert given - SETTINGS == set()
    assert {f"{PREFIX}DATABASE_URL", f"{PREFIX}SECRET_KEY", f"{PREFIX}PUBLIC_URL"} <= given


def test_the_database_is_migrated_before_anything_works_with_it(composed: dict[str, Any]) -> None:
    assert waits_for(composed["migrate"]) == {"postgres": "service_healthy"}
    for name in ("server", "consumer"):
        assert waits_for(composed[name])["migrate"] == "service_completed_successfully"
    assert composed["migrate"]["restart"] == "no"


@pytest.mark.parametrize("name", OURS)
def test_nobody_has_a_capability_but_the_consumer(composed: dict[str, Any], name: str) -> None:
    service = composed[name]
    target = service["build"]["target"]
    assert service["cap_drop"] == ["ALL"]
    assert sorted(service.get("cap_add", [])) == sorted(CAPABILITIES[target])
    assert "no-new-privileges:true" in service["security_opt"]
    assert "privileged" not in service
    assert set(composed["consumer"]["cap_add"]) == set(NEEDED)


def test_two_consumers_have_room_for_a_browser(composed: dict[str, Any]) -> None:
    consumer = composed["consumer"]
    assert consumer["deploy"]["replicas"] == 2
    assert int(consumer["shm_size"]) >= 2**30
    assert "container_name" not in consumer  # it would be one


@pytest.mark.parametrize("name", ["server", "consumer"])
def test_a_stop_is_given_more_time_than_it_takes_itself(
    composed: dict[str, Any], name: str
) -> None:
    own_s = Settings.model_fields["stop_grace_s"].default + LAST_RESORT_S
    assert seconds(composed[name]["stop_grace_period"]) > own_s
    assert composed[name]["restart"] == "unless-stopped"


def test_blobs_are_shared_where_both_images_keep_them_and_scratch_is_not(
    composed: dict[str, Any],
) -> None:
    for name in ("server", "consumer"):
        (volume,) = composed[name]["volumes"]
        assert (volume["type"], volume["source"], volume["target"]) == ("volume", "blobs", BLOBS)
    assert f"STORYSHELF_DATA_DIR={Path(BLOBS).parent}" in last("runtime", "ENV").rest
    assert str(Settings(data_dir=Path(BLOBS).parent).blob_dir) == BLOBS


def test_the_server_is_reached_from_this_machine_alone_unless_it_is_said(
    composed: dict[str, Any], tmp_path: Path
) -> None:
    (port,) = composed["server"]["ports"]
    assert (port["host_ip"], str(port["target"])) == ("127.0.0.1", "8765")
    (opened,) = services(tmp_path, {**SECRETS, "LISTEN_ADDRESS": "0.0.0.0"})["server"]["ports"]
    assert opened["host_ip"] == "0.0.0.0"
    assert not [name for name in ("postgres", "consumer") if composed[name].get("ports")]


def test_the_database_has_no_way_to_the_outside(composed: dict[str, Any]) -> None:
    assert set(composed["postgres"]["networks"]) == {"inside"}


class TestSeccomp:
    """Docker's own profile forbids what Chromium's sandbox is made of; ours does not."""

    profile = json.loads((DOCKER / "seccomp.json").read_text())

    def forbidden(self) -> set[str]:
        rules = [rule for rule in self.profile["syscalls"] if "args" not in rule]
        assert {rule["action"] for rule in rules} == {"SCMP_ACT_ERRNO"}
        return {name for rule in rules for name in rule["names"]}

    def test_it_is_the_consumers(self, composed: dict[str, Any]) -> None:
        assert "seccomp=seccomp.json" in composed["consumer"]["security_opt"]
        assert not [each for each in composed["server"]["security_opt"] if "seccomp" in each]

    @pytest.mark.parametrize("call", ["clone", "clone3", "unshare", "chroot", "capset", "seccomp"])
    def test_a_sandbox_can_be_made(self, call: str) -> None:
        assert call not in self.forbidden()

    @pytest.mark.parametrize(
        "call", ["mount", "bpf", "keyctl", "init_module", "kexec_load", "setns", "userfaultfd"]
    )
    def test_a_namespace_of_ones_own_is_no_way_into_the_kernel(self, call: str) -> None:
        assert call in self.forbidden()
