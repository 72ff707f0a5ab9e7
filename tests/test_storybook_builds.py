import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.storybook_builds import Recipe, StorybookBuildError, build

BUILDER = """\
const folder = process.argv[process.argv.indexOf('--output-dir') + 1];
const fs = require('fs');
fs.appendFileSync('runs.txt', 'run\\n');
fs.mkdirSync(folder, { recursive: true });
if (process.env.STORYBOOK_SHELF_FAIL) { console.log('no such component'); process.exit(3); }
fs.writeFileSync(folder + '/index.json', JSON.stringify(process.env));
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """A repository whose npm script notes each run and writes its environment as the index."""
    sources = tmp_path / "book"
    sources.mkdir()
    (sources / "button.jsx").write_text("one")
    (tmp_path / "build.cjs").write_text(BUILDER)
    (tmp_path / "package-lock.json").write_text("{}")
    scripts = {"book": "node build.cjs"}
    (tmp_path / "package.json").write_text(json.dumps({"name": "book", "scripts": scripts}))
    return Recipe("book", "book", sources, {"LOOK": "next"}, repository=tmp_path)


@pytest.fixture
def runs(recipe: Recipe) -> Callable[[], int]:
    return lambda: len((recipe.repository / "runs.txt").read_text().splitlines())


def test_what_was_built_is_not_built_again(
    recipe: Recipe, tmp_path: Path, runs: Callable[[], int]
) -> None:
    first, second = build(recipe, tmp_path / "cache"), build(recipe, tmp_path / "cache")
    assert (first, runs()) == (second, 1)


def test_a_changed_source_is_built_anew(
    recipe: Recipe, tmp_path: Path, runs: Callable[[], int]
) -> None:
    first = build(recipe, tmp_path / "cache")
    (recipe.sources / "button.jsx").write_text("two")
    assert build(recipe, tmp_path / "cache") != first
    assert runs() == 2


def test_a_changed_lockfile_is_built_anew(recipe: Recipe) -> None:
    before = recipe.digest()
    (recipe.repository / "package-lock.json").write_text('{"lockfileVersion": 3}')
    assert recipe.digest() != before


def test_only_the_switches_of_the_recipe_reach_the_build(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORYBOOK_SHELF_PIXEL", "1")
    seen = json.loads((build(recipe, tmp_path / "cache") / "index.json").read_text())
    switches = {name: seen[name] for name in seen if name.startswith("STORYBOOK_SHELF_")}
    assert switches == {"STORYBOOK_SHELF_LOOK": "next"}
    assert seen["STORYBOOK_DISABLE_TELEMETRY"] == "1"


def test_two_that_want_the_same_build_at_once_share_one_run(
    recipe: Recipe, tmp_path: Path, runs: Callable[[], int]
) -> None:
    with ThreadPoolExecutor(2) as pool:
        folders = list(pool.map(lambda _: build(recipe, tmp_path / "cache"), range(2)))
    assert folders[0] == folders[1]
    assert runs() == 1


def test_a_failed_build_shows_what_npm_said_and_leaves_nothing_to_be_mistaken_for_a_build(
    recipe: Recipe, tmp_path: Path
) -> None:
    failing = replace(recipe, switches={"FAIL": "1"})
    with pytest.raises(StorybookBuildError, match="no such component"):
        build(failing, tmp_path / "cache")
    assert not (tmp_path / "cache" / f"book-{failing.digest()}").exists()
