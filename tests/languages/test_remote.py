"""The package for JavaScript and real nginx, in Node and in Chromium: filters that are asked where they are, and followed."""

import json
import shutil
import subprocess

import pytest
from conftest import BLOOMSET, missing
from web_servers import nginx, served, surroundings  # noqa: F401

MEMBERS = 100_000
# The most ranges of a key that docs/reference/format.md promises, and one for what opening reads, as in tests/cli/remote.
RANGES = {"blocked_bloom": 1, "cuckoo": 2, "vector_quotient": 2, "fuse": 3, "ribbon": 4, "bloom": 7, "counting_bloom": 7,
          "expandable": 2, "scalable_bloom": 40}
ASKED = [word for i in range(100) for word in (f"user{i}", f"guest{i}")]


@pytest.fixture(autouse=True)
def needs_nginx():
    if shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin") is None:
        missing("nginx is not installed, so no filter on a server is tried here")


def bloomset(*words, keys=()):
    done = subprocess.run([BLOOMSET, *map(str, words)], input="".join(f"{key}\n" for key in keys), capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def numbered(prefix, first, count):
    return (f"{prefix}{i}" for i in range(first, first + count))


@pytest.fixture
def node(package, run, tmp_path):
    """node(program, ...): runs a program in a folder with the package; what it prints, as JSON."""
    folder = tmp_path / "program"
    (folder / "node_modules").mkdir(parents=True)
    (folder / "node_modules" / "bloomset").symlink_to(package("javascript", "node"))

    def start(program, **variables):
        (folder / "main.mjs").write_text(program)
        return json.loads(run("node", "main.mjs", cwd=folder, **{name: json.dumps(value) for name, value in variables.items()}))

    return start


def test_every_kind_is_asked_for_few_bytes(node, nginx, served):
    for kind in RANGES:
        bloomset("build", "-q", "-o", served / f"{kind}.bloom", "--kind", kind, "--fpr", "1%", keys=numbered("user", 0, MEMBERS))
    single = ["user77", "guest5"]
    answers = node("""
        import {openRemote} from 'bloomset/remote';
        const all = {};
        for (const kind of JSON.parse(process.env.KINDS)) {
          const address = `${JSON.parse(process.env.URL_)}/${kind}.bloom`;
          const filter = await openRemote(`${address}?all`);
          const keys = JSON.parse(process.env.KEYS);
          all[kind] = {many: await filter.hasMany(keys), traffic: filter.traffic, one: []};
          for (const key of JSON.parse(process.env.SINGLE)) all[kind].one.push(await (await openRemote(`${address}?${key}`)).has(key));
        }
        console.log(JSON.stringify(all));""", URL_=nginx.url, KINDS=list(RANGES), KEYS=ASKED, SINGLE=single)
    requests = nginx.requests()
    for kind, limit in RANGES.items():
        found = set(bloomset("check", served / f"{kind}.bloom", keys=ASKED).splitlines())
        assert answers[kind]["many"] == [key in found for key in ASKED], kind
        assert answers[kind]["one"] == [key in found or key.startswith("user") for key in single], kind
        many = [request for request in requests if request.path == f"/{kind}.bloom?all"]
        assert answers[kind]["traffic"] == {"requests": len(many), "bytes": sum(request.sent for request in many)}
        assert sum(request.sent for request in many) < 2 * (served / f"{kind}.bloom").stat().st_size
        for key in single:
            first, *others = [request for request in requests if request.path == f"/{kind}.bloom?{key}"]
            assert first.ranges == [(0, 4095)]
            ranges = [each for request in others for each in request.ranges]
            assert 1 <= len(ranges) <= limit + 1, kind
            assert all(last - begin < 4096 for begin, last in ranges), kind
            assert sum(request.sent for request in others) < 8192, kind
            assert all(request.status == 206 for request in (first, *others))


def test_servers_of_one_range_and_of_none(node, nginx, served):
    bloomset("build", "-q", "-o", served / "f.bloom", "--fpr", "1%", keys=numbered("user", 0, 4 * MEMBERS))
    found = set(bloomset("check", served / "f.bloom", keys=ASKED).splitlines())
    answers = node("""
        import {openRemote} from 'bloomset/remote';
        const all = [];
        for (const path of ['f.bloom', 'single/f.bloom', 'whole/f.bloom', 'moved/f.bloom', 'secret/f.bloom', 'absent']) {
          try {
            const filter = await openRemote(`${JSON.parse(process.env.URL_)}/${path}`);
            all.push(await filter.hasMany(JSON.parse(process.env.KEYS)));
          } catch (error) {
            all.push(`${error.code}: ${error.message}`);
          }
        }
        console.log(JSON.stringify(all));""", URL_=nginx.url, KEYS=ASKED)
    assert answers[:4] == [[key in found for key in ASKED]] * 4
    assert answers[4] == (f"io: {nginx.url}/secret/f.bloom: the server refuses access (status 403); check the address, and whether it "
                          "needs a password")
    assert answers[5] == f"not_found: {nginx.url}/absent: the server has no such file (status 404); check the address"
    requests = nginx.requests()
    # One for the header, and one for each 64 of the 200 keys.
    assert [request.status for request in requests if request.path == "/f.bloom"][:5] == [206] * 5
    single = [request for request in requests if request.path.startswith("/single/")]
    assert [request.status for request in single[:2]] == [206, 200]
    assert all(request.status == 206 and len(request.ranges) == 1 for request in single[2:])
    assert [request.status for request in requests if request.path.startswith("/whole/")] == [200]


FOLLOW = """
import {follow} from 'bloomset';
import {readFileSync, writeFileSync, existsSync} from 'node:fs';
import {deserialize, serialize} from 'node:v8';
const saved = existsSync('saved') ? deserialize(readFileSync('saved')) : undefined;
try {
  const list = await follow(JSON.parse(process.env.URL_), {saved});
  const did = saved ? await list.refresh() : undefined;
  writeFileSync('saved', serialize(list.save()));
  console.log(JSON.stringify({did, sequence: list.sequence, answers: list.hasMany(JSON.parse(process.env.KEYS))}));
} catch (error) {
  console.log(JSON.stringify({error: `${error.code}: ${error.message}`}));
}
"""


@pytest.fixture
def publisher(served, tmp_path):
    """A folder with a filter of MEMBERS keys, and the name of the publisher's own file."""
    own = tmp_path / "own.bloom"
    bloomset("build", "-q", "-o", own, "--kind", "bloom", "--fpr", "0.5%", "--capacity", 2 * MEMBERS, keys=numbered("user", 0, MEMBERS))
    bloomset("publish", "-q", served / "pub", own)
    return own


def test_a_published_filter_is_followed(node, nginx, served, publisher, tmp_path):
    keys = ["user5", "new5", "later5", "last5", "mallory1"]

    def now(words=keys):
        return node(FOLLOW, URL_=f"{nginx.url}/pub/", KEYS=words)

    assert now() == {"sequence": 1, "answers": [True, False, False, False, False]}
    whole = (served / "pub" / json.loads((served / "pub" / "manifest.json").read_text())["base"]["file"]).stat().st_size
    assert [request.path.split(".")[-1] for request in nginx.requests()] == ["json", "bloom"]
    # A patch, then layers, then nothing, then patches to a new base without layers.
    bloomset("add", "-q", publisher, keys=numbered("new", 0, 1000))
    bloomset("publish", "-q", served / "pub", publisher)
    said = now()
    assert said["answers"] == [True, True, False, False, False] and said["did"]["patches"] == 1 and not said["did"]["whole"]
    assert sum(request.sent for request in nginx.requests()) == said["did"]["bytes"] < whole / 10
    for words in ("later", "last"):
        listed = tmp_path / words
        listed.write_text("".join(f"{key}\n" for key in numbered(words, 0, 500)))
        bloomset("publish", "-q", served / "pub", "--layer", listed, "--fpr", "1%")
    said = now()
    assert said["answers"] == [True, True, True, True, False] and said["did"]["layers"] == 2
    assert sum(request.sent for request in nginx.requests()) == said["did"]["bytes"] < 8000
    # The same answers as those of the file that the command line fetches.
    bloomset("fetch", "-q", served / "pub", "-o", tmp_path / "mine.bloom")
    passing = set(bloomset("check", tmp_path / "mine.bloom", keys=ASKED).splitlines())
    assert now(ASKED)["answers"] == [key in passing for key in ASKED]
    said = now()
    assert not said["did"]["changed"] and said["did"]["bytes"] == (served / "pub" / "manifest.json").stat().st_size
    bloomset("add", "-q", publisher, keys=[*numbered("later", 0, 500), *numbered("last", 0, 500)])
    bloomset("publish", "-q", served / "pub", publisher)
    said = now()
    assert said["answers"] == [True, True, True, True, False] and said["did"]["changed"] and said["did"]["patches"] == 1
    # The same from the folder itself.
    assert node(FOLLOW, URL_=str(served / "pub"), KEYS=keys)["answers"] == said["answers"]


def test_hostile_folders(node, nginx, served, publisher, tmp_path):
    """Each is refused by one sentence, and the filter that was there answers as before."""
    folder = served / "pub"
    url = f"{nginx.url}/pub/"
    first = (folder / "manifest.json").read_text()
    assert node(FOLLOW, URL_=url, KEYS=["user5"])["sequence"] == 1
    bloomset("add", "-q", publisher, keys=numbered("new", 0, 100))
    bloomset("publish", "-q", folder, publisher)
    listed = tmp_path / "listed"
    listed.write_text("later1\nlater2\n")
    bloomset("publish", "-q", folder, "--layer", listed, "--fpr", "1%")
    good = json.loads((folder / "manifest.json").read_text())
    name = f"{url}manifest.json"

    def refused(text):
        (folder / "manifest.json").write_text(text if isinstance(text, str) else json.dumps(text))
        said = node(FOLLOW, URL_=url, KEYS=["user5"])
        return said.get("error", said)

    other = "; give a folder that 'bloomset publish' wrote"
    assert refused("[1") == f"corrupt: {name}: this is not a manifest, because it is not a JSON object{other}"
    assert refused("[" * 500_000) == f"corrupt: {name}: this is not a manifest, because it is not a JSON object{other}"
    assert refused("{" * 3_000_000) == f"corrupt: {name}: the file has more than the 1048576 bytes that it may have"
    assert refused({**good, "format": "x"}) == f"unsupported: {name}: its format is not bloomset-manifest-1; use a newer bloomset"
    for member, wrong in [("sequence", 0), ("sequence", "7"), ("published", "today"), ("valid_until", 5), ("max_fpr", 2),
                          ("labels", {"a": 1}), ("base", None), ("base", {**good["base"], "file": "../secret"}),
                          ("base", {**good["base"], "bytes": -1}), ("base", {**good["base"], "sha256": "0"}), ("patches", {}),
                          ("patches", [{}] * 5000), ("layers", [{**good["layers"][0], "keys": 0}]), ("layers", [7])]:
        said = refused({**good, member: wrong})
        assert said.startswith(f"corrupt: {name}: {member}") and said.endswith(f" is missing or wrong{other}"), said
    assert refused({**good, "sequence": 1}).startswith(f"incompatible: {name}: it has the number 1 of the one that was here, but other")
    assert refused({**good, "valid_until": "2020-01-01T00:00:00Z"}).startswith(f"incompatible: {name}: it was valid until 2020")
    # A base that lies about its size is not read beyond it, and one that is too large for the reader is not read.
    fake = {**good, "patches": [], "base": {**good["base"], "sha256": "0" * 64}}
    assert refused(fake).endswith("the file is not the one that the manifest names; fetch again later, or tell the publisher")
    assert "bytes that it may have" in refused({**fake, "base": {**fake["base"], "bytes": 10}})
    # Files that belong to nothing here: a patch that is damaged, a layer of another base, a swapped file.
    wrong = {**good, "base": {**good["base"], "sha256": "0" * 64}}
    assert refused(wrong) == f"corrupt: {name}: its patches do not make its base; tell the publisher"
    patch = folder / good["patches"][0]["file"]
    kept = patch.read_bytes()
    patch.write_bytes(kept[:-1])
    assert f"{patch.name}: the file is not the one" in refused(good)
    patch.write_bytes(kept)
    layer = {**good["layers"][0], **{part: good["patches"][0][part] for part in ("file", "bytes", "sha256")}}
    assert refused({**good, "layers": [layer]}).startswith(f"corrupt: {name}: ")
    as_patch = {**good["patches"][0], **{part: good["layers"][0][part] for part in ("file", "bytes", "sha256")}}
    assert refused({**good, "patches": [as_patch]}).startswith(f"corrupt: {url}{as_patch['file']}: ")
    (folder / good["layers"][0]["file"]).rename(folder / "kept")
    assert refused(good).startswith(f"not_found: {url}{good['layers'][0]['file']}: the server has no such file")
    (folder / "kept").rename(folder / good["layers"][0]["file"])
    said = refused(good)
    assert said["sequence"] == 3 and said["answers"] == [True]
    assert refused(first).startswith(f"incompatible: {name}: it has the number 1, but 3 was here already; an old publication")


PAGE = """<!doctype html><meta charset="utf-8"><title>bloomset</title>
<script type="module">
  import {follow} from './package/index.js';
  import {openRemote} from './package/remote.js';
  const keys = KEYS;
  const elsewhere = location.origin.replace('127.0.0.1', 'localhost');
  const ask = async (address) => {
    try {
      const filter = await openRemote(address);
      return {answers: await filter.hasMany(keys), traffic: filter.traffic};
    } catch (error) {
      return error.message;
    }
  };
  window.result = {here: await ask('f.bloom'), shared: await ask(`${elsewhere}/shared/f.bloom`),
                   hidden: await ask(`${elsewhere}/hidden/f.bloom`), closed: await ask(`${elsewhere}/single/f.bloom`)};
  const list = await follow('pub');
  window.followed = list.hasMany(['user5', 'new5']);
  window.refresh = async () => [await list.refresh(), list.hasMany(['user5', 'new5'])];
</script>"""


def test_in_a_page(package, nginx, served, publisher, request):
    from selenium.webdriver.support.ui import WebDriverWait

    shutil.copytree(package("javascript"), served / "package", ignore=shutil.ignore_patterns("test", "node_modules"))
    (served / "page.html").write_text(PAGE.replace("KEYS", json.dumps(ASKED)))
    bloomset("build", "-q", "-o", served / "f.bloom", "--fpr", "1%", keys=numbered("user", 0, 4 * MEMBERS))
    found = set(bloomset("check", served / "f.bloom", keys=ASKED).splitlines())
    answers = [key in found for key in ASKED]
    browser = request.getfixturevalue("browser")
    browser.set_script_timeout(120)
    browser.get(f"{nginx.url}/page.html")
    WebDriverWait(browser, 120, 0.1).until(lambda page: page.execute_script("return window.followed"))
    result = browser.execute_script("return window.result")
    requests = nginx.requests()
    for name, path in (("here", "/f.bloom"), ("shared", "/shared/f.bloom")):
        asked = [each for each in requests if each.path == path and each.status == 206]
        assert result[name]["answers"] == answers, result
        assert result[name]["traffic"] == {"requests": len(asked), "bytes": sum(each.sent for each in asked)}
        assert sum(each.sent for each in asked) < (served / "f.bloom").stat().st_size / 4
    # Other sites are not asked for several ranges at once, which they would have to allow first.
    here = [each for each in requests if each.path == "/f.bloom" and each.status == 206 and each.ranges[0][0] > 0]
    assert len(here) in (3, 4) and len(here[0].ranges) > 50
    assert all(len(each.ranges) == 1 for each in requests if each.path == "/shared/f.bloom")
    assert result["hidden"].endswith("let it send Access-Control-Expose-Headers: Content-Range, ETag")
    assert "the transfer failed: Failed to fetch" in result["closed"]
    assert browser.execute_script("return window.followed") == [True, False]
    bloomset("add", "-q", publisher, keys=numbered("new", 0, 1000))
    bloomset("publish", "-q", served / "pub", publisher)
    did, after = browser.execute_async_script("window.refresh().then(arguments[0], (e) => arguments[0]([e.message, 0]))")
    assert after == [True, True] and did["patches"] == 1 and did["bytes"] < 10_000, did
