"""How the site is built: `make docs`. What a page needs is in the build, so that it works without a network."""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]
os.environ.setdefault("MPLBACKEND", "Agg")

import benchmark_plots  # noqa: E402

import dsprog  # noqa: E402

project = "dsprog"
author = copyright = "The dsprog authors"
version = release = dsprog.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "_build",
    "gallery/*.md5",
    "sg_execution_times.rst",
    "**/sg_execution_times.rst",
    "walks.md",
    "plots/*.md",
]
suppress_warnings = ["config.cache", "myst.xref_missing", "ref.ref"]  # scikit-learn's inherited docstrings

# -- Markdown -------------------------------------------------------------------------------------------------------

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# -- reference ------------------------------------------------------------------------------------------------------

autosummary_generate = True
templates_path = ["_templates"]
autodoc_typehints = "none"  # numpydoc's sections say it in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# -- gallery --------------------------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "within_subsection_order": "docs_order.ByTelling",
    "abort_on_example_error": True,
    "show_memory": False,
    "min_reported_time": 1e9,
}

# -- pages ----------------------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "dsprog"
html_static_path = ["_static"]
html_css_files = ["dsprog.css"]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "dsprog"},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"index": [], "install": [], "start": [], "changelog": []}


def escape_bars(app, what, name, obj, options, lines):
    """|S| is the size of a set, not a substitution, and ``tree_`` is a name, not a link."""
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", ":")):
            pieces = re.split(r"(`[^`]*`)", line)  # code stays as it is
            plain = [re.sub(r"(\w)_(?!\w)", r"\1\\_", piece.replace("|", r"\|")) for piece in pieces[::2]]
            pieces[::2] = plain
            lines[k] = "".join(pieces)


def setup(app):
    """Plots before pages are read, and bars before numpydoc looks at a docstring."""
    benchmark_plots.make(ROOT / "docs" / "plots")
    app.connect("autodoc-process-docstring", escape_bars, priority=100)
