"""The page in a real Chromium, driven as a user drives it.

The page is $BLOOMSET_EXPLORER, or the page in the build folder of the program $BLOOMSET. If it was
not built, or if Chromium or its driver is not installed, these tests are skipped. After each test
the browser's console must be empty.
"""

import json
import os
import pathlib
import shutil
import subprocess
import urllib.parse

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOOMSET = os.path.abspath(os.environ.get("BLOOMSET", ROOT / "build" / "bloomset"))
PAGE = pathlib.Path(os.environ.get("BLOOMSET_EXPLORER",
                                   pathlib.Path(BLOOMSET).parent / "explorer" / "index.html"))

LECTURE = {"steps": "+2,+4,+9,?4,?7,?12"}

# No network, no services of the browser's own.
ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage", "--lang=en-US", "--window-size=1200,1000")


def last_frame(page):
    from selenium.webdriver.common.keys import Keys
    page.one("h1").click()
    page.press(Keys.END)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if not PAGE.is_file():
        pytest.skip("the explorer page was not built here")
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip("chromium and chromium-driver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('chromium')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    driver.set_script_timeout(60)
    yield driver
    driver.quit()


class Page:
    """The page as a user has it: opened from disk, with an address."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, **state):
        """Follows a link to that state; the page draws it anew, but compiles the library once for all tests."""
        address = urllib.parse.urlencode(state)
        if self.driver.current_url.startswith(PAGE.resolve().as_uri()):
            self.driver.execute_async_script("""const [hash, done] = arguments;
                window.addEventListener('hashchange', () => done(), {once: true});
                if (location.hash.slice(1) === hash) window.dispatchEvent(new Event('hashchange'));
                else location.hash = hash;""", address)
        else:
            self.load(f"{PAGE.resolve().as_uri()}#{address}")

    def load(self, address):
        self.driver.get("about:blank")
        self.driver.get(address)
        self.until(lambda: self.all("#view"))

    def one(self, css):
        return self.driver.find_element("css selector", css)

    def all(self, css):
        return self.driver.find_elements("css selector", css)

    def text(self, css):
        """In one question, since a page that plays draws its elements anew."""
        return self.run("return document.querySelector(arguments[0]).innerText", css).replace("\u00a0", " ").strip()

    def attributes(self, css, name):
        """That attribute of each element."""
        return self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.getAttribute(arguments[1]))", css, name)

    def type(self, css, text):
        """Replaces what a field holds, by its keys."""
        from selenium.webdriver.common.keys import Keys
        field = self.one(css)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.DELETE, text)

    def choose(self, css, value):
        from selenium.webdriver.support.ui import Select
        Select(self.one(css)).select_by_value(value)

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains
        ActionChains(self.driver).send_keys(*keys).perform()

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, what, seconds=30):
        from selenium.webdriver.support.ui import WebDriverWait
        return WebDriverWait(self.driver, seconds, 0.02).until(lambda _: what())

    def width(self, pixels, height=844, mobile=False):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": pixels, "height": height, "deviceScaleFactor": 1, "mobile": mobile})

    def bits(self):
        """The set places of the array that is shown."""
        return [int(p) for p in self.one("svg.array").get_attribute("data-set").split()]

    def verdict(self):
        return self.one("#verdict").get_attribute("data-verdict")


@pytest.fixture
def page(browser):
    browser.get_log("browser")
    yield Page(browser)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    said = [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    assert said == [], said


@pytest.fixture
def bloomset(tmp_path):
    """Runs the command line: bloomset("plan", "--json", ...) -> its output."""

    def start(*args, input=b""):
        return subprocess.run([BLOOMSET, *map(str, args)], input=input, cwd=tmp_path, check=True,
                              stdout=subprocess.PIPE, timeout=60).stdout

    start.json = lambda *args: json.loads(start(*args))
    return start
