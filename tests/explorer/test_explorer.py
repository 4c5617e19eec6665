"""The page as a whole: links, files that it inspects, languages, keyboard and phones."""

import base64
import math

import pytest

from conftest import LECTURE, ROOT, last_frame


def test_the_librarys_sample_is_the_file_that_the_command_line_makes(page, bloomset, tmp_path):
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.open(tab="inspect")
    page.one("#sample").click()
    assert page.text("#inspect-out h2") == "sample.bloom"
    assert page.text("#ins_capacity") == "1,000 keys"
    # A member, a non-member, and a non-member that passes.
    assert page.attributes("#answers li", "data-found") == ["true", "false", "true"]
    page.one("#save").click()
    page.until(lambda: (tmp_path / "sample.bloom").is_file())
    keys = "".join(f"user{i}@example.com\n" for i in range(1, 1001)).encode()
    bloomset("build", "-o", "own.bloom", "--fpr", "1%", input=keys)
    assert (tmp_path / "sample.bloom").read_bytes() == (tmp_path / "own.bloom").read_bytes()


def test_the_page_names_documents_of_this_project_and_links_to_papers(page):
    page.open()
    documents = {e.get_attribute("textContent") for e in page.all(".document code")}
    assert len(documents) >= 4 and all((ROOT / path).is_file() for path in documents)
    papers = {e.get_attribute("href") for e in page.all("a[href^=http]")}
    assert len(papers) == 10
    assert all(link.startswith(("https://doi.org/10.", "https://eprint.iacr.org/20")) for link in papers)
    assert page.one("#source a").get_attribute("href") == "https://doi.org/10.1145/362686.362692"


def test_a_file_of_the_command_line_is_inspected_and_asked(page, bloomset, tmp_path):
    keys = "".join(f"user{i}\n" for i in range(5000)).encode()
    file = tmp_path / "members.bloom"
    bloomset("build", "-o", file, "--fpr", "1%", "--kind", "bloom", input=keys)
    info = bloomset.json("info", "--json", file)
    page.open(tab="inspect")
    page.one("#file").send_keys(str(file))
    page.until(lambda: page.all("#ins_count"))
    assert page.text("#ins_count") == f"{info['count']:,} keys"
    assert page.text("#ins_k") == str(info["hashes"])
    shown = float(page.text("#ins_current").removesuffix("%"))
    assert math.isclose(shown, 100 * info["current_fpr"], rel_tol=0.01)
    others = page.text("#inspect-out dl")
    assert "Hash\nxxh3" in others and "Can\ninsert, merge, intersect, fold" in others
    page.one("#ask-keys").send_keys("user17\nnobody at all\nuser4999")
    found = page.attributes("#answers li", "data-found")
    assert found == ["true", "false", "true"]


def test_every_kinds_golden_file_says_in_german_what_it_says_to_the_command_line(page, bloomset):
    page.open(tab="inspect", lang="de")
    for file in sorted((ROOT / "tests" / "golden").glob("*.bloom")):
        info = bloomset.json("info", "--json", file)
        count, current = page.driver.execute_async_script("""const [name, bytes, done] = arguments;
            const data = new DataTransfer();
            data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], name));
            document.getElementById('drop').dispatchEvent(new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: data}));
            const look = () => document.querySelector('#inspect-out h2')?.textContent === name
              ? done(['ins_count', 'ins_current'].map((id) => document.getElementById(id).textContent)) : setTimeout(look);
            look();""", file.name, base64.b64encode(file.read_bytes()).decode())
        assert count == f"{info['count']:,} Schlüssel".replace(",", "."), file.name
        value = float(current.removesuffix("\u00a0%").replace(",", ".")) / 100
        assert math.isclose(value, info["current_fpr"], rel_tol=0.01), file.name
        assert english_left(page) == []


def test_a_damaged_file_is_refused_with_a_sentence(page, bloomset, tmp_path):
    file = tmp_path / "f.bloom"
    bloomset("build", "-o", file, "--fpr", "1%", input=b"a\nb\n")
    bytes_ = bytearray(file.read_bytes())
    bytes_[-1] ^= 1
    file.write_bytes(bytes_)
    page.open(tab="inspect")
    page.one("#file").send_keys(str(file))
    page.until(lambda: page.all("#inspect-problem"))
    assert "checksum does not match" in page.text("#inspect-problem")


def test_a_file_with_a_secret_key_is_described_and_asked_with_the_key(page, bloomset, tmp_path):
    from selenium.webdriver.common.keys import Keys
    for name in ("a.key", "b.key"):
        bloomset("key", "new", tmp_path / name)
    key, other = ((tmp_path / name).read_text().strip() for name in ("a.key", "b.key"))
    file = tmp_path / "f.bloom"
    bloomset("build", "-o", file, "--fpr", "0.001%", "--key-file", tmp_path / "a.key", input=b"ann\nbob\n")
    identifier = f"{bloomset.json('info', '--json', file)['seed']:016x}"
    for lang, wrong in (("en", "another secret key"), ("de", "einen anderen geheimen Schlüssel")):
        page.open(tab="inspect", lang=lang)
        page.one("#file").send_keys(str(file))
        page.until(lambda: page.all("#secret-key"))
        assert page.text("#ins_key_id") == identifier
        assert page.text("#ins_count").startswith("2 ") and not page.all("#ask-keys")
        page.one("#secret-key").send_keys("0123", Keys.TAB)
        assert "32 hexade" in page.text("#key-problem")
        page.one("#secret-key").clear()
        page.one("#secret-key").send_keys(other, Keys.TAB)
        page.until(lambda: wrong in page.text("#key-problem"))
        page.one("#secret-key").clear()
        page.one("#secret-key").send_keys(key, Keys.TAB)
        page.until(lambda: page.all("#ask-keys"))
        assert page.text("#ins_key_id") == identifier and not page.all("#secret-key")
        page.one("#ask-keys").send_keys("ann\ncarl\nbob")
        assert page.attributes("#answers li", "data-found") == ["true", "false", "true"]
        assert english_left(page) == [] or lang == "en"


def test_a_file_that_cannot_be_read_is_told(page, bloomset, tmp_path):
    file = tmp_path / "f.bloom"
    bloomset("build", "-o", file, "--fpr", "1%", input=b"a\nb\n")
    page.open(tab="inspect")
    # As the browser answers for a folder, and for a file that is gone or may not be read.
    page.run("""window.whole = File.prototype.arrayBuffer;
        File.prototype.arrayBuffer = () => Promise.reject(new DOMException('no permission', 'NotReadableError'))""")
    page.one("#file").send_keys(str(file))
    page.until(lambda: page.all("#inspect-problem"))
    said = page.text("#inspect-problem")
    assert said.startswith("f.bloom cannot be read") and "no permission" in said
    page.run("File.prototype.arrayBuffer = window.whole")
    page.one("#file").send_keys(str(file))  # the same name again
    page.until(lambda: page.all("#ins_count"))
    page.run("""const drop = new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: new DataTransfer()});
        document.getElementById('drop').dispatchEvent(drop)""")
    assert "no file" in page.text("#inspect-problem")


def test_german_dark_and_by_keyboard(page):
    from selenium.webdriver.common.keys import Keys
    page.open(**LECTURE)
    page.one("#language").click()
    assert page.one("html").get_attribute("lang") == "de"
    last_frame(page)
    assert "falsch positiv" in page.text("#verdict")
    ground = lambda: page.run("return getComputedStyle(document.body).backgroundColor")
    light = ground()
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    page.until(lambda: ground() != light)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    page.until(lambda: ground() == light)
    page.one("#theme").click()
    assert ground() != light
    page.one("#tab-watch").send_keys(Keys.ARROW_RIGHT)
    assert page.driver.switch_to.active_element.get_attribute("id") == "tab-plan"
    assert page.all("#plan-table")


def english_left(page):
    """What the German page shows in English: the library's rarer sentences are marked so."""
    return [e.get_attribute("textContent") for e in page.all("#view [lang=en]")]


@pytest.mark.parametrize("asked", [
    {"n": "1M", "fpr": "1%"}, {"n": "1M", "fpr": "1%", "needs": "unchanging"}, {"n": "1000", "fpr": "", "memory": "1kB"},
    {"n": "1000", "fpr": "", "hashes": "7"}, {"n": "", "fpr": "1%", "needs": "growing"}, {"n": "1M", "fpr": "1%", "needs": "deletable,growing"},
    {"n": "x", "fpr": "1%"}, {"n": "1M", "fpr": "1%", "memory": "1kB"}, {"n": "", "fpr": "1%"},
])
def test_plans_are_told_in_german(page, asked):
    page.open(tab="plan", lang="de", **asked)
    said = page.text("#plan-out")
    assert english_left(page) == []
    assert not any(word in said for word in (" the ", " kind ", " give ", " a key", " and ")), said


@pytest.mark.parametrize("asked", [
    {"formulas": "(x+"}, {"formulas": "2x"}, {"kind": "expandable", "rate": "x"}, {"kind": "expandable", "crowd": "99999"},
    {"steps": "+cat", "at": "1"}, {"kind": "scalable_bloom", "steps": "-a", "at": "1"},
])
def test_errors_are_told_in_german(page, asked):
    page.open(lang="de", **asked)
    assert page.text("#problem") or page.text("#telling .verdict.bad")
    assert english_left(page) == []


@pytest.mark.parametrize("tab", ["watch", "plan", "plots", "inspect"])
def test_a_phone_shows_all_of_it_in_its_width(page, tab):
    page.width(390, mobile=True)
    page.open(tab=tab, plotN="500", at="24", lang="de")  # the longer words
    assert page.run("return document.documentElement.scrollWidth") <= 390
    # Without scrolling sideways each rate; without any scrolling the input, and the best plan's rate below its head.
    seen = {"watch": "#element", "plan": "#plan-table .rate", "plots": "#plot-n", "inspect": "#sample"}[tab]
    places = page.run("""return [...document.querySelectorAll(arguments[0])].map((e) => {
            const r = e.getBoundingClientRect(); return [r.left, r.right, r.bottom]; })""", seen)
    assert all(0 <= left < right <= 390 for left, right, _ in places)
    assert all(bottom <= 844 for _, _, bottom in places[:2])
    if tab == "watch":
        assert page.run("return document.querySelector('#stage svg').getBoundingClientRect().bottom"
                        " <= document.querySelector('#element').getBoundingClientRect().top")
    # Every control has a name for those who do not see it.
    nameless = page.run("""return [...document.querySelectorAll('button, input, select, textarea')]
        .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length))
        .map((e) => e.outerHTML)""")
    assert nameless == []
