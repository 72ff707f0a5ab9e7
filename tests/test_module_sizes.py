"""A module that needs more than 400 lines holds more than one thought."""

from pathlib import Path

TOP = Path(__file__).parents[1]
LONGEST = 400
FOLDERS = ("storyshelf", "consumer", "bench", "docker", "examples", "tests")


def too_long(top: Path) -> dict[str, int]:
    """Return the modules below `top` that are longer than the limit, with their lengths."""
    sources = [
        source
        for folder in FOLDERS
        for source in (top / folder).rglob("*.py")
        if "node_modules" not in source.parts
    ]
    lengths = {str(source.relative_to(top)): line_count(source) for source in sources}
    return {name: length for name, length in lengths.items() if length > LONGEST}


def line_count(source: Path) -> int:
    return len(source.read_text().splitlines())


def test_no_module_is_longer_than_one_thought() -> None:
    assert too_long(TOP) == {}


def test_a_module_one_line_over_is_named(tmp_path: Path) -> None:
    (tmp_path / "consumer").mkdir()
    (tmp_path / "consumer" / "long.py").write_text("x = 1\n" * (LONGEST + 1))
    (tmp_path / "consumer" / "whole.py").write_text("x = 1\n" * LONGEST)
    assert too_long(tmp_path) == {"consumer/long.py": LONGEST + 1}
