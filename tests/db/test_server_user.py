"""Root hands the server to a user of the project's own, else to the one that can do least."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from storyshelf.db.server_user import (
    NamelessUserError,
    NoServerUserError,
    ServerUser,
    choose_user,
    require_name,
    run_as,
    server_user,
)

OWN = ServerUser("storyshelf", 901, 901)
POSTGRES = ServerUser("postgres", 902, 902)
NOBODY = ServerUser("nobody", 65534, 65534)


def among(*users: ServerUser) -> Callable[[str], ServerUser | None]:
    return {user.name: user for user in users}.get


def test_the_projects_own_user_comes_first() -> None:
    assert choose_user(among(NOBODY, POSTGRES, OWN), among()) == OWN


def test_the_projects_own_user_is_made_where_it_can_be() -> None:
    assert choose_user(among(NOBODY, POSTGRES), among(OWN)) == OWN


def test_else_the_system_servers_user_runs_it() -> None:
    assert choose_user(among(NOBODY, POSTGRES), among()) == POSTGRES


def test_nobody_is_the_last_resort_and_warned_of() -> None:
    with capture_logs() as logged:
        assert choose_user(among(NOBODY), among()) == NOBODY
    assert [(line["log_level"], line["event"]) for line in logged] == [
        ("warning", "postgres.runs_as_nobody")
    ]


def test_without_anybody_root_is_told_how_to_make_one() -> None:
    with pytest.raises(NoServerUserError, match="useradd --system storyshelf"):
        choose_user(among(), among())


def test_a_user_without_a_name_is_refused() -> None:
    with pytest.raises(NamelessUserError, match="User id 54321 has no name"):
        require_name(54321)


def test_programs_see_nothing_of_the_callers_environment() -> None:
    seen = run_as(None, ["env"]).stdout.splitlines()
    assert {line.partition("=")[0] for line in seen} == {"PATH", "LC_ALL", "TZ"}


if os.geteuid() == 0:

    def test_a_data_folder_stays_with_the_user_it_was_made_for(tmp_path: Path) -> None:
        os.chown(tmp_path, 65534, 65534)
        owner = server_user(tmp_path)
        assert owner is not None
        assert owner.uid == 65534
