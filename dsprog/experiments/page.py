"""One self-contained HTML page for an experiment: text, tables and figures in a single file."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from pathlib import Path

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid #888; }
img { max-width: 100%; } code { background: #f3f3f3; padding: .1rem .3rem; }
"""


def page(title: str, parts: Sequence[str]) -> str:
    """A document of parts that are HTML already."""
    body = "\n".join([f"<h1>{html.escape(title)}</h1>", *parts])
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def paragraph(text: str) -> str:
    """A paragraph of plain text.

    >>> paragraph("f < g")
    '<p>f &lt; g</p>'
    """
    return f"<p>{html.escape(text)}</p>"


def heading(text: str) -> str:
    """A section heading."""
    return f"<h2>{html.escape(text)}</h2>"


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of cells that are shown as they print."""

    def line(cells: Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "\n".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(columns, 'th')}</thead><tbody>\n{body}\n</tbody></table>"


def picture(path: Path, alt: str) -> str:
    """A PNG inside the page."""
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{data}">'
