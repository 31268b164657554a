"""Results and functions as small HTML tables, as notebooks show them; readable on light and on dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top;border:none;background:none"
HEAD = f"{CELL};font-weight:600;white-space:nowrap"
BADGES = {True: "#1a7f37", False: "#9a6700"}  # proved, and not


def badge(words: str, good: bool) -> str:
    """A word in green or amber."""
    style = f"color:#fff;background:{BADGES[good]};border-radius:3px;padding:0 6px"
    return f'<span style="{style}">{escape(words)}</span>'


def facts(title: str, rows: Mapping[str, str]) -> str:
    """A title, and names with what they are; values are HTML already."""
    lines = "".join(
        f'<tr><th style="{HEAD}">{escape(name)}</th><td style="{CELL}">{html}</td></tr>' for name, html in rows.items()
    )
    return f'<div><strong>{escape(title)}</strong><table style="border:none">{lines}</table></div>'


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A title, a head and rows of plain values."""
    first = "".join(f'<th style="{HEAD}">{escape(name)}</th>' for name in head)
    cells = (["".join(f'<td style="{CELL}">{escape(str(cell))}</td>' for cell in row)] for row in rows)
    lines = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return f'<div><strong>{escape(title)}</strong><table style="border:none"><tr>{first}</tr>{lines}</table></div>'
