"""Rows of text as aligned columns."""

from collections.abc import Sequence

GAP = "  "


def columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return a line for the head and one for each row; what is a number stands to the right."""
    table = [head, *rows]
    widths = [max(len(row[place]) for row in table) for place in range(len(head))]
    numbers = [all(_is_number(row[place]) for row in rows) for place in range(len(head))]
    return [
        GAP.join(
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(row, widths, numbers, strict=True)
        ).rstrip()
        for row in table
    ]


def _is_number(cell: str) -> bool:
    return cell.strip("-") == "" or cell.removeprefix("about ")[:1].isdigit()
