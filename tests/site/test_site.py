"""The site of the documentation (scripts/site), in a real Chromium that opens it from a folder.

Each page is loaded once, as wide as a phone. If pip cannot install MkDocs, or if Chromium or its driver is missing, these
tests are skipped; with BLOOMSET_NEEDS_ENGINES they fail. The last lines of pages are tested without either.
"""

import contextlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PHONE = 360

# Loads pages in frames as wide as a phone, three at a time, and returns what each links to and what is wrong with it.
LOOK = """
    const [addresses, width, done] = arguments;
    const seen = {};
    const look = async () => {
      const frame = document.body.appendChild(document.createElement('iframe'));
      frame.style.cssText = `border: 0; width: ${width}px; height: 740px`;
      while (addresses.length) {
        const address = addresses.pop();
        await new Promise((loaded) => { frame.onload = loaded; frame.src = address; });
        const page = frame.contentDocument;
        const {clientWidth, scrollWidth} = page.documentElement;
        const images = [...page.images];
        seen[address] = {
          links: [...page.querySelectorAll('a[href]')].map((link) => link.href),
          ids: [...page.querySelectorAll('[id]')].map((element) => element.id),
          images: images.map((image) => image.src),
          broken: images.filter((image) => !image.naturalWidth || !image.alt).map((image) => image.src),
          scrolls: scrollWidth > clientWidth ? scrollWidth : 0,
        };
      }
    };
    Promise.all([look(), look(), look()]).then(() => done(seen));
"""


def module(name, path):
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def missing(why):
    if os.environ.get("BLOOMSET_NEEDS_ENGINES"):
        pytest.fail(why, pytrace=False)
    pytest.skip(why)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a site") / "of pages"  # with spaces, as folders of users have
    done = subprocess.run([sys.executable, ROOT / "scripts" / "site", folder], capture_output=True, text=True, timeout=300)
    if done.returncode == 77:
        missing(done.stderr if os.environ.get("BLOOMSET_NEEDS_ENGINES") else done.stderr.splitlines()[0])
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@contextlib.contextmanager
def chromium(profile, *more):
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        missing("chromium and chromium-driver are not installed")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        missing("python3-selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in (*module("explorer_conftest", "tests/explorer/conftest.py").ARGUMENTS, f"--user-data-dir={profile}", *more):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    driver.set_script_timeout(120)
    yield driver
    said = [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    driver.quit()
    assert said == []


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


def width(browser, pixels):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": pixels, "height": 740, "deviceScaleFactor": 1, "mobile": pixels < 500})


def path_of(address):
    return pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(address).path))


def colours(browser):
    """Of the text, and of what is behind it."""
    return browser.execute_script("""const style = getComputedStyle(document.body);
        return [style.color, style.backgroundColor].map((text) => text.match(/\\d+/g).slice(0, 3).reduce((sum, n) => sum + +n, 0));""")


@pytest.fixture(scope="module")
def looked_at(site, tmp_path_factory):
    """What LOOK says of each page, by its address without the anchor. The explorer has tests of its own."""
    def is_page(address):
        return address.startswith("file:") and path_of(address).suffix == ".html" and path_of(address).is_file()

    seen = {}
    waiting = {(site / "index.html").as_uri()}
    with chromium(tmp_path_factory.mktemp("chromium"), "--allow-file-access-from-files") as driver:
        driver.get((site / "index.html").as_uri())
        while waiting:
            found = driver.execute_async_script(LOOK, sorted(waiting), PHONE)
            seen |= found
            links = {link.partition("#")[0] for page in found.values() for link in page["links"]}
            waiting = {link for link in links if is_page(link)} - seen.keys() - {(site / "explorer.html").as_uri()}
    return seen


def test_no_link_is_dead(site, looked_at):
    dead = []
    for address, page in looked_at.items():
        for link in page["links"]:
            target, _, anchor = link.partition("#")
            if target in looked_at:
                is_dead = anchor and urllib.parse.unquote(anchor) not in looked_at[target]["ids"]
            else:
                is_dead = link.startswith("file:") and path_of(target) != site / "explorer.html"
            if is_dead:
                dead.append((address, link))
    assert dead == []
    written = {path.as_uri() for path in site.rglob("*.html")} - {(site / "explorer.html").as_uri()}
    assert written == set(looked_at), "pages that no other page links to"


def test_every_page_of_the_documentation_is_there(site):
    pages = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    names = [page.relative_to(ROOT).with_suffix(".html") for page in pages if page.name != "mainpage.md"]
    names = [name.with_name("index.html") if name.stem == "README" else name for name in names]
    assert [str(name) for name in names if not (site / name).is_file()] == []


def test_lists_and_tables_are_rendered(site):
    pages = [(page, re.sub(r"<pre>.*?</pre>", "", page.read_text(), flags=re.S)) for page in site.rglob("*.html")
             if page != site / "explorer.html"]
    left = [(page.name, line) for page, text in pages
            for line in re.findall(r"^\s*(?:<p>)?(?:[-*] |\d+\. |\||```).*", text, re.M)]
    assert left == []


def test_pictures_are_there_and_described(looked_at):
    assert [image for page in looked_at.values() for image in page["broken"]] == []
    assert len({image for page in looked_at.values() for image in page["images"]}) > 20


def test_a_phone_needs_no_horizontal_scrolling(looked_at):
    assert {address: page["scrolls"] for address, page in looked_at.items() if page["scrolls"]} == {}


def test_dark_mode_follows_the_system_and_the_button(site, browser):
    width(browser, 1200)
    seen = {}
    for scheme in ("light", "dark"):
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        browser.get((site / "docs" / "start" / "choose.html").as_uri())
        seen[scheme] = colours(browser)
    assert seen["light"][0] < 200 < 600 < seen["light"][1] and seen["dark"][1] < 200 < 600 < seen["dark"][0]
    browser.find_element("css selector", "#theme-button").click()
    assert colours(browser) == seen["light"]
    browser.get((site / "index.html").as_uri())
    assert colours(browser) == seen["light"]  # the choice stays
    browser.execute_script("localStorage.clear()")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def search(browser, words):
    from selenium.webdriver.support.ui import WebDriverWait
    field = browser.find_element("css selector", "#query")
    field.clear()
    field.send_keys(words)
    return WebDriverWait(browser, 10, 0.02).until(lambda _: browser.find_elements("css selector", "#found li"))


def test_search_finds_a_section(site, browser):
    from selenium.webdriver.common.keys import Keys
    width(browser, 1200)
    browser.get((site / "docs" / "reference" / "cpp.html").as_uri())
    first = search(browser, "capacity choose")[0].find_element("css selector", "a")
    assert "/docs/start/choose.html#" in first.get_attribute("href")
    assert search(browser, "zyzzyva")[0].text == "No page has all of these words."
    search(browser, "LOADCHUNK")
    browser.find_element("css selector", "#query").send_keys(Keys.ENTER)
    assert browser.current_url.split("/docs/")[1] == "reference/server/commands.html#scandump-and-loadchunk"


def test_the_menu_opens_on_a_phone(site, browser):
    width(browser, PHONE)
    browser.get((site / "index.html").as_uri())
    link = browser.find_element("css selector", "#menu a[href$='install.html']")
    assert not link.is_displayed()
    browser.find_element("css selector", "#menu-button").click()
    link.click()
    assert browser.current_url.endswith("/docs/start/install.html")


def test_kinds_have_the_same_colours_in_all_pictures():
    colours = json.loads((ROOT / "explorer" / "src" / "kind-colours.json").read_text())
    rule = re.compile(r"\.(?:fill-|stroke-)?(" + "|".join(colours) + r") \{ (?:fill|stroke): (#\w+) \}")
    painted = [(picture.name, kind, colour) for picture in sorted((ROOT / "docs").rglob("*.svg"))
               for kind, colour in rule.findall(picture.read_text())]
    assert [paint for paint in painted if paint[2] not in colours[paint[1]].values()] == []
    assert {kind for _, kind, _ in painted} == set(colours)


def test_last_lines_name_the_next_page_and_the_page_above():
    """docs/maintain/site/footers.py writes them."""
    footers = module("footers", "docs/maintain/site/footers.py")
    assert [str(page.relative_to(ROOT)) for page in footers.wrong()] == []
    in_order = {path for _, path in footers.nav()}
    assert [str(page) for page in footers.pages() if page not in in_order and "decisions" not in page.parts] == []
