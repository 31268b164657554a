"""One self-contained HTML page for an experiment: text, tables and figures in a single file."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from pathlib import Path

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; font-size: .85rem; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid #ddd; }
td { white-space: nowrap; } thead th { border-bottom: 2px solid #888; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; } code { background: #f3f3f3; padding: .1rem .3rem; }
small { color: #666; } em { color: #a40; font-style: normal; }
"""


class Html(str):
    """Text that is HTML already."""


def as_html(text: object) -> str:
    """What a text prints, with everything escaped that is not HTML already.

    >>> as_html("f < g"), as_html(Html("<em>open</em>"))
    ('f &lt; g', '<em>open</em>')
    """
    return text if isinstance(text, Html) else html.escape(str(text))


def write_page(path: Path, title: str, parts: Sequence[Html]) -> Path:
    """Write a document of parts."""
    style = " ".join(STYLE.split())
    head = f'<meta charset="utf-8"><title>{as_html(title)}</title>\n<style>{style}</style>'
    body = "\n".join([f"<h1>{as_html(title)}</h1>", *parts])
    path.write_text(f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n')
    return path


def paragraph(text: str) -> Html:
    """A paragraph."""
    return Html(f"<p>{as_html(text)}</p>")


def heading(text: str) -> Html:
    """A section heading."""
    return Html(f"<h2>{as_html(text)}</h2>")


def table(columns: Sequence[object], rows: Sequence[Sequence[object]]) -> Html:
    """A table of cells that are shown as they print.

    >>> table(["k"], [[5]])
    '<table><thead><tr><th>k</th></tr></thead><tbody><tr><td>5</td></tr></tbody></table>'
    """

    def line(cells: Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{as_html(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return Html(f"<table><thead>{line(columns, 'th')}</thead><tbody>{body}</tbody></table>")


def picture(path: Path, alt: str) -> Html:
    """A PNG inside the page."""
    data = base64.b64encode(path.read_bytes()).decode()
    return Html(f'<img alt="{as_html(alt)}" src="data:image/png;base64,{data}">')
