"""A table is written by one store, so that whoever asks who changes a row finds one file."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from storyshelf.db import tables as schema

TOP = Path(__file__).parents[1]
WRITES = {"insert", "update", "delete"}
SQL_WRITE = re.compile(
    r"\b(?:insert\s+into|update|delete\s+from)\s+(?:only\s+)?(\w+)", re.IGNORECASE
)


def writers(top: Path, tables: dict[str, str]) -> dict[str, set[str]]:
    """Return, for each table by name, the stores that write it, or other modules that do.

    `tables` names the table of each row class. All ways to write count: `insert(BuildRow)`,
    making a `BuildRow()`, and SQL as text. A store that outgrew one file is a package.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for package in ("storyshelf", "consumer"):
        for source in (top / package).rglob("*.py"):
            owner = store_of(source.relative_to(top).with_suffix("").parts)
            for table in written_tables(ast.parse(source.read_text()), tables):
                found[table].add(owner)
    return found


def store_of(parts: tuple[str, ...]) -> str:
    """Return the store that a module is or lies in; any other module is named whole."""
    for depth, part in enumerate(parts, start=1):
        if is_store(part):
            return ".".join(parts[:depth])
    return ".".join(parts)


def is_store(part: str) -> bool:
    return part == "store" or part.endswith("_store")


def written_tables(tree: ast.Module, tables: dict[str, str]) -> Iterator[str]:
    prose = docstrings(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[first, *_]) if (
                name.removeprefix("pg_") in WRITES
            ):
                yield from (tables[row] for row in row_names(first) if row in tables)
            case ast.Call(func=ast.Name(id=row)) if row in tables:
                yield tables[row]
            case ast.Constant(value=str(text)) if node not in prose:
                yield from set(SQL_WRITE.findall(text)) & set(tables.values())


def row_names(node: ast.expr) -> Iterator[str]:
    """Yield `BuildRow` for both `BuildRow` and `tables.BuildRow`."""
    if isinstance(node, ast.Name):
        yield node.id
    if isinstance(node, ast.Attribute):
        yield node.attr


def docstrings(tree: ast.Module) -> set[ast.expr]:
    """Return the strings that stand alone: they talk about SQL, they are none."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def mapped_tables() -> dict[str, str]:
    rows = [row for name, row in vars(schema).items() if name.endswith("Row")]
    return {row.__name__: row.__tablename__ for row in rows}


def test_each_table_is_written_by_one_store() -> None:
    found = writers(TOP, mapped_tables())
    assert {table: owners for table, owners in found.items() if len(owners) > 1} == {}
    owners = set[str]().union(*found.values())
    assert {owner for owner in owners if not is_store(owner.rpartition(".")[2])} == set()


def test_no_table_is_without_a_writer() -> None:
    assert set(mapped_tables().values()) - set(writers(TOP, mapped_tables())) == set()


def test_a_second_writer_is_found_however_it_writes(tmp_path: Path) -> None:
    written = {
        "storyshelf/builds/store/open.py": "tx.execute(pg_insert(tables.BuildRow))",
        "storyshelf/builds/store/end.py": "tx.execute(delete(BuildRow))",
        "storyshelf/review/decide.py": "tx.execute(update(BuildRow).values(state='accepted'))",
        "storyshelf/ui/build_pages.py": "tx.add(BuildRow(id=1))",
        "consumer/main.py": "tx.execute(text('DELETE  FROM builds WHERE id = 1'))",
        "consumer/health.py": '"""Never: update builds."""\nselect(BuildRow)',
    }
    for name, source in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    assert writers(tmp_path, {"BuildRow": "builds"}) == {
        "builds": {
            "storyshelf.builds.store",
            "storyshelf.review.decide",
            "storyshelf.ui.build_pages",
            "consumer.main",
        }
    }
