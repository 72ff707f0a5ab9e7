"""A build moves in one place, which tells of it: whoever moves it elsewhere tells nobody."""

import ast
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).parents[2]
MOVING = Path("storyshelf/builds/moving.py")
STORE = Path("storyshelf/builds/store.py")
MOVES = {"add", "move", "seal", "start_capture"}


def quiet_moves(top: Path) -> set[str]:
    """Return who moves builds by their store, as `file:line`; the store itself apart."""
    found = set()
    for package in ("storyshelf", "consumer"):
        for source in (top / package).rglob("*.py"):
            name = source.relative_to(top)
            if name not in {MOVING, STORE}:
                found |= {f"{name}:{line}" for line in moves_of(ast.parse(source.read_text()))}
    return found


def moves_of(tree: ast.Module) -> Iterator[int]:
    stores = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "storyshelf.builds":
            stores |= {each.asname or each.name for each in node.names if each.name == "store"}
        if isinstance(node, ast.ImportFrom) and node.module == "storyshelf.builds.store":
            yield from (node.lineno for each in node.names if each.name in MOVES)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield from [node.lineno] if node.value.id in stores and node.attr in MOVES else []


def writers_of_state(source: str) -> set[str]:
    """Return the functions that write a column `state`."""
    return {
        function.name
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.AsyncFunctionDef)
        for each in ast.walk(function)
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr == "values"
        and any(keyword.arg == "state" for keyword in each.keywords)
    }


def test_builds_move_only_where_it_is_told() -> None:
    assert quiet_moves(TOP) == set()


def test_the_store_has_one_way_to_move_a_build() -> None:
    assert writers_of_state((TOP / STORE).read_text()) == {"move"}


def test_a_quiet_move_is_found_however_it_is_written(tmp_path: Path) -> None:
    written = {
        "storyshelf/review/a.py": "from storyshelf.builds import store\nstore.move(tx, build, to)",
        "storyshelf/api/b.py": "from storyshelf.builds import store as builds\nx = builds.seal",
        "consumer/c.py": "from storyshelf.builds.store import start_capture",
        "consumer/d.py": "from storyshelf.snapshots import store\nstore.add(tx)",
    }
    for name, source in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    assert quiet_moves(tmp_path) == {
        "storyshelf/review/a.py:2",
        "storyshelf/api/b.py:2",
        "consumer/c.py:1",
    }
