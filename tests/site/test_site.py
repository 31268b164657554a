"""The built site in a real browser: `make docs`, then `make test-docs`."""

import functools
import http.server
import re
import shutil
import threading
from pathlib import Path
from urllib.parse import unquote

import pytest

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")) if SITE.exists() else []
OURS = [page for page in PAGES if not page.startswith(("_modules/", "_static/", "_downloads/"))]
WIDTHS = (420, 1600)
# Elements of the text that reach beyond the screen, and lie in no box that scrolls.
CLIPPED = """() => {
    const scrolling = e => ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
    const scrolls = e => !e.matches("article") && (scrolling(e) || scrolls(e.parentElement));
    return [...document.querySelectorAll("article.bd-article *")]
        .filter(e => [...e.getClientRects()].some(r => r.right > innerWidth + 1))
        .filter(e => !scrolls(e) && !e.closest("mjx-assistive-mml"))
        .map(e => `${e.tagName} ${e.textContent.slice(0, 60)}`);
}"""

pytestmark = [
    pytest.mark.site,
    pytest.mark.skipif(not PAGES, reason="the site is not built: make docs"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_opens_without_errors_and_nothing_is_clipped(browser, address, width, mode):
    troubles = []

    def foreign(url):
        return not url.startswith((address, "data:", "blob:"))

    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=mode)
    page = context.new_page()
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: troubles.append(f"asks for {request.url}") if foreign(request.url) else None)
    for name in OURS:
        troubles.clear()
        page.goto(f"{address}/{name}")
        assert not troubles, f"{name}: {troubles}"
        beyond = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert beyond <= 0, f"{name} is {beyond} pixels wider than {width}"
        clipped = page.evaluate(CLIPPED)
        assert not clipped, f"{name} hides what is beyond {width} pixels: {clipped}"
        assert page.evaluate("document.documentElement.dataset.theme") == mode
    context.close()


def test_search_finds_the_certificate(browser, address):
    page = browser.new_page()
    page.goto(f"{address}/search.html?q=certificate")
    page.wait_for_selector("#search-results li", timeout=20000)
    titles = page.locator("#search-results li a").all_inner_texts()
    assert any("proof" in title.lower() for title in titles), titles
    page.close()


def test_formulas_are_drawn(browser, address):
    page = browser.new_page()
    page.goto(f"{address}/proofs.html")
    page.wait_for_selector("mjx-container", timeout=20000)
    assert page.locator("mjx-container").count() >= 2
    page.close()


def test_links_lead_somewhere():
    dead = []
    for name in OURS:
        text = (SITE / name).read_text()
        for link in re.findall(r'(?:href|src)="([^"#?]+)', text):
            if "://" not in link and not link.startswith(("data:", "mailto:", "javascript:")):
                target = (SITE / name).parent / unquote(link)
                if not target.exists():
                    dead.append(f"{name}: {link}")
    assert not dead


def test_every_public_name_has_a_page():
    import dsprog as ds
    from dsprog import applications

    names = [f"dsprog.{name}" for name in ds.__all__ if name != "testing"]
    names += [f"dsprog.applications.{name}" for name in applications.__all__]
    missing = [name for name in names if not (SITE / "api" / "generated" / f"{name}.html").exists()]
    assert not missing


def test_at_least_fifteen_examples_draw_something():
    drawn = {re.sub(r"sphx_glr_|_\d+\.png", "", path.name) for path in (SITE / "_images").glob("sphx_glr_*_0*.png")}
    assert len(drawn) >= 15, drawn
