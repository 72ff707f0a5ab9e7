import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from storyshelf.cli.main import run
from tests.cli.captured import Captured, read_json
from tests.client.server import TOKEN, FakeServer, a_snapshot, problem

HEAVY = {"PIL", "alembic", "asyncpg", "fastapi", "numpy", "playwright", "sqlalchemy", "starlette"}
PROBE = f"""
import sys
from storyshelf.cli.main import run
code = run(sys.argv[1:])
loaded = {{name.partition(".")[0] for name in sys.modules}}
print("heavy:", sorted(loaded & {HEAVY!r}), file=sys.stderr)
sys.exit(code)
"""


def test_a_folder_alone_is_uploaded_waited_for_and_its_verdict_returned(
    server: FakeServer, folder: Path, capsys: Captured
) -> None:
    assert run([str(folder)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert "Hashing: 4 of 4 files" in out
    assert "Build 1 is uploaded: 4 files sent, 0 were there." in out
    assert "Build 1 on main passed: nothing changed" in out
    assert out[-1] == "Exit code 0"


@pytest.mark.parametrize(
    "words", [["-d"], ["--storybook-build-dir"], ["publish"], ["publish", "-d"]]
)
def test_the_folder_can_be_named_by_an_option_or_after_the_command(
    server: FakeServer, folder: Path, words: list[str]
) -> None:
    assert run([*words, str(folder)]) == 0
    assert server.build(1).is_sealed


def test_an_option_may_come_before_the_folder(server: FakeServer, folder: Path) -> None:
    assert run(["--branch", "feature/x", str(folder)]) == 0
    assert server.build(1).body["branch"] == "feature/x"


def test_the_usual_folder_is_the_default(
    server: FakeServer, folder: Path, environment: pytest.MonkeyPatch
) -> None:
    environment.chdir(folder.parent)
    assert run(["upload"]) == 0


def test_upload_alone_does_not_wait(server: FakeServer, folder: Path, capsys: Captured) -> None:
    server.states = ["broken"]
    assert run(["upload", str(folder)]) == 0
    assert "http://shelf.test/projects/demo/builds/1" in capsys.readouterr().out
    assert not any(request.endswith("/builds/1") for request in server.requests)


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("accepted", 0),
        ("pending", 1),
        ("denied", 1),
        ("broken", 2),
        ("failed", 3),
        ("cancelled", 6),
    ],
)
def test_the_exit_code_is_the_verdict(
    server: FakeServer, folder: Path, state: str, code: int
) -> None:
    server.states = [state]
    assert run([str(folder)]) == code


def test_changes_can_be_excused_and_errors_cannot(server: FakeServer, folder: Path) -> None:
    server.states = ["pending"]
    assert run([str(folder), "--exit-zero-on-changes"]) == 0
    server.states = ["broken"]
    assert run([str(folder), "--exit-zero-on-changes", "--force-rebuild"]) == 2


def test_every_story_to_look_at_is_named_with_its_whole_link(
    server: FakeServer, folder: Path, capsys: Captured
) -> None:
    url = "http://shelf.test/" + "long/" * 60
    error = {"code": "threw", "message": "boom"}
    server.states = ["broken"]
    server.snapshots = [
        a_snapshot("changed", "Primary", url=f"{url}1"),
        a_snapshot("errored", "Broken", url=f"{url}2", error=error),
        a_snapshot("unchanged", "Calm", url=f"{url}3"),
    ]
    assert run([str(folder)]) == 2
    out = capsys.readouterr().out.splitlines()
    assert f"  Button / Primary  {url}1" in out
    assert f"  Button / Broken  {url}2" in out
    assert "      boom" in out
    assert not any("Calm" in line for line in out)


def test_json_is_one_document_with_build_stories_and_code(
    server: FakeServer, folder: Path, capsys: Captured
) -> None:
    server.states = ["pending"]
    server.snapshots = [a_snapshot("changed"), a_snapshot("unchanged", "Calm")]
    assert run([str(folder), "--json"]) == 1
    document = read_json(capsys)
    assert document["exit_code"] == 1
    assert document["build"]["state"] == "pending"
    assert document["build"]["generation"] == 1
    assert [one["name"] for one in document["snapshots"]] == ["Primary"]
    assert document["snapshots"][0]["browser"] == "chromium"


def test_json_of_an_upload_says_what_was_sent(
    server: FakeServer, folder: Path, capsys: Captured
) -> None:
    assert run(["upload", str(folder), "--json"]) == 0
    document = read_json(capsys)
    assert document["sent"]["files"] == 4
    assert document["finding"] == "uploaded"


def test_the_same_upload_again_is_the_same_build_unless_forced(
    server: FakeServer, folder: Path, capsys: Captured
) -> None:
    server.states = ["pending"]
    assert [run([str(folder)]), run([str(folder)])] == [1, 1]
    assert "Rebuild skipped; --force-rebuild makes a new build of it." in capsys.readouterr().out
    assert len(server.builds) == 1
    assert run([str(folder), "--force-rebuild"]) == 1
    assert len(server.builds) == 2


@pytest.mark.parametrize(
    ("options", "sent"),
    [([], "null"), (["--cancel-older"], "true"), (["--keep-older"], "false")],
)
def test_what_happens_to_older_builds_is_the_projects_unless_said(
    server: FakeServer, folder: Path, options: list[str], sent: str
) -> None:
    run(["upload", str(folder), *options])
    assert json.dumps(server.build(1).body["cancel_older"]) == sent


def test_the_commit_comes_with_its_message_and_author(server: FakeServer, folder: Path) -> None:
    run(["upload", str(folder), "--message", "Blue", "--author", "Ada"])
    body = server.build(1).body
    assert (body["commit"], body["branch"]) == ("c" * 40, "main")
    assert (body["message"], body["author"]) == ("Blue", "Ada")


def test_the_saved_server_is_used_where_nothing_is_said(
    server: FakeServer, folder: Path, environment: pytest.MonkeyPatch
) -> None:
    data = Path(os.environ["STORYSHELF_DATA_DIR"])
    data.mkdir()
    saved = {"url": os.environ["STORYSHELF_URL"], "project": "demo", "token": TOKEN}
    (data / "client.json").write_text(json.dumps(saved))
    environment.delenv("STORYSHELF_URL")
    environment.delenv("STORYSHELF_PROJECT_TOKEN")
    assert run([str(folder)]) == 0


def no_stories(folder: Path) -> None:
    (folder / "index.json").write_text('{"v": 5, "entries": {}}')


def no_index(folder: Path) -> None:
    (folder / "index.json").unlink()


def no_frame(folder: Path) -> None:
    (folder / "iframe.html").unlink()


def a_link(folder: Path) -> None:
    (folder / "link").symlink_to("/etc/passwd")


def a_backslash(folder: Path) -> None:
    (folder / "..\\x").write_text("x")


@pytest.mark.parametrize(
    ("spoil", "refusal"),
    [
        (no_stories, (4, "has no stories")),
        (no_index, (254, "neither index.json nor stories.json")),
        (no_frame, (254, "no iframe.html")),
        (a_link, (254, "symbolic link")),
        (a_backslash, (254, "backslash")),
    ],
)
def test_a_folder_that_cannot_be_a_bundle_is_refused_before_a_build_is_made(
    server: FakeServer,
    folder: Path,
    capsys: Captured,
    spoil: Callable[[Path], None],
    refusal: tuple[int, str],
) -> None:
    spoil(folder)
    assert run([str(folder)]) == refusal[0]
    assert refusal[1] in capsys.readouterr().err
    assert server.builds == []


def test_a_bad_token_is_said_and_not_shown(
    server: FakeServer, folder: Path, environment: pytest.MonkeyPatch, capsys: Captured
) -> None:
    environment.setenv("STORYSHELF_PROJECT_TOKEN", "ssp_wrong")
    assert run([str(folder)]) == 202
    err = capsys.readouterr().err
    assert err == "Error: The project token is not known (here)\nMake a new one.\n"


def test_a_server_that_finds_no_stories_ends_with_their_code(
    server: FakeServer, folder: Path, capsys: Captured
) -> None:
    refusal = problem(422, "no-stories", "The Storybook has no stories", "Check the globs.")
    server.refuse_seal = refusal
    assert run([str(folder)]) == 4


def test_an_unreachable_server_has_its_code(
    environment: pytest.MonkeyPatch, folder: Path, capsys: Captured
) -> None:
    environment.setenv("STORYSHELF_URL", "http://127.0.0.1:1")
    environment.setenv("STORYSHELF_PROJECT_TOKEN", TOKEN)
    assert run([str(folder)]) == 201
    assert "http://127.0.0.1:1, 1 tries" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--no-such-option"], ["upload", "--timeout", "1"], ["nowhere"], ["upload", "a", "b"]]
)
def test_a_wrong_command_line_has_its_code(
    environment: pytest.MonkeyPatch, words: list[str], capsys: Captured
) -> None:
    assert run(words) == 254
    assert capsys.readouterr().err.startswith("Error: ")


def test_two_folders_are_one_too_many(
    environment: pytest.MonkeyPatch, folder: Path, capsys: Captured
) -> None:
    assert run([str(folder), "-d", "other"]) == 254
    assert "two folders are named" in capsys.readouterr().err


def test_a_number_of_retries_that_is_none_names_its_variable(
    server: FakeServer, folder: Path, environment: pytest.MonkeyPatch, capsys: Captured
) -> None:
    environment.setenv("STORYSHELF_RETRIES", "often")
    assert run([str(folder)]) == 254
    assert "STORYSHELF_RETRIES" in capsys.readouterr().err


def test_a_failure_is_json_too_where_json_is_asked_for(
    environment: pytest.MonkeyPatch, folder: Path, capsys: Captured
) -> None:
    assert run([str(folder), "--json"]) == 254
    document = read_json(capsys)
    assert document["exit_code"] == 254
    assert document["error"]["what"] == "No server is given"
    assert set(document["error"]) == {"what", "where", "next_step"}


def test_names_that_differ_in_case_are_a_warning(
    server: FakeServer, folder: Path, capsys: Captured
) -> None:
    (folder / "A.js").write_text("1")
    (folder / "a.js").write_text("2")
    assert run(["upload", str(folder)]) == 0
    warning = "Warning: these files differ in case only: A.js, a.js"
    assert warning in capsys.readouterr().out


@pytest.mark.parametrize("words", [["publish"], ["upload"]])
def test_an_upload_loads_no_server_package(
    server: FakeServer, folder: Path, words: list[str]
) -> None:
    command = [sys.executable, "-c", PROBE, *words, str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "heavy: []\n")
