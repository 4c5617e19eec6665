"""Published folders whose manifests minisign has signed, followed with a public key in Node, Deno, Bun and Chromium."""

import base64
import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import BLOOMSET, NEWEST_NOBLE, OLDEST_NOBLE, missing, noble
from test_deno_bun import ENGINES, path_of
from web_servers import nginx, served, surroundings  # noqa: F401

OUTCOMES = os.path.join(os.path.dirname(__file__), "signed_folders.js")
PROGRAM = """
import {follow} from 'bloomset';
import {outcomes} from './signed_folders.js';
import process from 'node:process';
if (process.env.WITHOUT_CRYPTO) delete globalThis.crypto;  // as in Node 18
const {url, key, folders} = JSON.parse(process.env.GIVEN);
console.log(JSON.stringify({second: await outcomes(follow, url, key, folders, 'second'), first: await outcomes(follow, url, key, folders, 'first')}));
"""


@pytest.fixture(autouse=True)
def needs_minisign():
    if shutil.which("minisign") is None:
        missing("minisign is not installed, so no signed folder is tried here")


def bloomset(*words, keys=()):
    subprocess.run([BLOOMSET, *map(str, words)], input="".join(f"{key}\n" for key in keys), text=True, check=True, timeout=300)


class Publisher:
    """A key pair of minisign."""

    def __init__(self, folder, name):
        self.public, self.secret = folder / f"{name}.pub", folder / f"{name}.key"
        subprocess.run(["minisign", "-G", "-W", "-p", self.public, "-s", self.secret], check=True, capture_output=True)
        self.text = self.public.read_text()
        self.base64 = self.text.splitlines()[1]

    @property
    def id(self):
        return base64.b64decode(self.base64)[2:10][::-1].hex().upper()

    def sign(self, folder, *options):
        subprocess.run(["minisign", "-S", "-s", self.secret, "-m", folder / "manifest.json", *options], check=True,
                       capture_output=True, stdin=subprocess.DEVNULL)


@pytest.fixture
def publisher(tmp_path):
    return Publisher(tmp_path, "publisher")


@pytest.fixture
def folders(served, tmp_path, publisher):
    """Two publications, signed, and what can be wrong with the second: the names of the folders."""
    own = tmp_path / "own.bloom"
    bloomset("build", "-q", "-o", own, "--fpr", "0.01%", "--capacity", 3000, keys=(f"user{i}" for i in range(1000)))
    bloomset("publish", "-q", served / "first", own)
    publisher.sign(served / "first", "-t", "list of Monday")
    shutil.copytree(served / "first", served / "second")
    bloomset("add", "-q", own, keys=(f"new{i}" for i in range(1000)))
    bloomset("publish", "-q", served / "second", own)
    (served / "second" / "manifest.json.minisig").rename(tmp_path / "of_the_first")
    publisher.sign(served / "second", "-t", "list of Tuesday, für alle")
    signature = (served / "second" / "manifest.json.minisig").read_bytes()
    lines = signature.split(b"\n")

    def flipped(line):
        decoded = bytearray(base64.b64decode(lines[line]))
        decoded[-1] ^= 1
        return b"\n".join([*lines[:line], base64.b64encode(decoded), *lines[line + 1:]])

    def variant(name, signed=signature, more=b""):
        shutil.copytree(served / "second", served / name)
        (served / name / "manifest.json.minisig").write_bytes(signed)
        with (served / name / "manifest.json").open("ab") as file:
            file.write(more)

    variant("legacy")
    publisher.sign(served / "legacy", "-l", "-t", "the old form")
    variant("another_system", signature.replace(b"\n", b"\r\n"))
    variant("manifest", more=b"\n")
    variant("signature", flipped(1))
    variant("comment_signature", flipped(3))
    variant("comment", signature.replace(b"Tuesday", b"Sunday"))
    variant("not_signed_again", (tmp_path / "of_the_first").read_bytes())
    variant("malformed", b"\n".join(lines[:3]))
    variant("another_key")
    Publisher(tmp_path, "other").sign(served / "another_key")
    variant("missing")
    (served / "missing" / "manifest.json.minisig").unlink()
    return sorted(path.name for path in served.iterdir())


def said_by_the_command_line(publisher, folder):
    """The first clause of what `bloomset verify` says, without the name of the file."""
    name = folder / "manifest.json"
    done = subprocess.run([BLOOMSET, "verify", "--public-key", publisher.public, name], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout
    return done.stderr.removeprefix(f"bloomset verify: {name}").strip().split(";")[0]


def check(outcomes, publisher, served, url):
    first = {"sequence": 1, "comment": "list of Monday", "answers": [True, False, False]}
    second = {"sequence": 2, "comment": "list of Tuesday, für alle", "answers": [True, True, False]}
    good = {"first": first, "second": second, "another_system": second, "legacy": {**second, "comment": "the old form"}}
    for name, state in good.items():
        assert outcomes["first"][name] == {"opened": state, "refreshed": state["sequence"], "after": state}, name
    for name in ("second", "another_system", "legacy"):
        assert outcomes["second"][name]["after"] == good[name], name
    manifest = f"{url}/pub/manifest.json"
    assert outcomes["second"]["first"] == {
        "opened": first, "after": second,
        "refreshed": f"BloomsetError incompatible: {manifest}: it has the number 1, but 2 was here already; an old publication is shown "
                     "again, so nothing was changed. If the publisher began anew, follow it anew"}
    bad = set(outcomes["first"]) - set(good)
    assert len(bad) == 8
    for name in bad:
        for before, state in (("first", first), ("second", second)):
            said = outcomes[before][name]
            assert said["opened"] == said["refreshed"] and said["after"] == state, name
            if name == "missing":
                assert said["opened"] == (
                    f"BloomsetError not_found: {manifest}.minisig: there is no such file, so the manifest is not signed; do not use the "
                    "folder, and ask the publisher for the signature")
            else:
                prefix = f"BloomsetError corrupt: {manifest}"
                assert said["opened"].startswith(prefix) and "; " in said["opened"], said
                assert said["opened"].removeprefix(prefix).split(";")[0] == said_by_the_command_line(publisher, served / name)
    assert f"and the given key is {publisher.id};" in outcomes["first"]["another_key"]["opened"]


@pytest.fixture
def program(package, tmp_path):
    """program(text, packages): a folder with a program, and the packages that it needs."""

    def make(text, packages):
        folder = tmp_path / "program"
        shutil.copytree(package("javascript"), folder / "node_modules" / "bloomset", ignore=shutil.ignore_patterns("test"))
        if packages:
            shutil.copytree(noble(packages), folder / "node_modules" / "@noble")
        (folder / "package.json").write_text('{"type": "module"}')
        shutil.copy(OUTCOMES, folder)
        (folder / "main.js").write_text(text)
        return folder

    return make


@pytest.mark.parametrize("engine,packages,more", [
    ("node", NEWEST_NOBLE, {}), ("node", OLDEST_NOBLE, {}), ("node", OLDEST_NOBLE, {"WITHOUT_CRYPTO": "1"}),
    ("node", NEWEST_NOBLE, {"WITHOUT_CRYPTO": "1"}), ("deno", NEWEST_NOBLE, {}), ("bun", NEWEST_NOBLE, {})], ids=["node", "node-oldest", "node18-oldest", "node18", "deno", "bun"])
def test_signed_folders(package, run, program, nginx, served, folders, publisher, engine, packages, more):
    command = ["node"] if engine == "node" else [path_of(engine), *ENGINES[engine][2]]
    package("javascript", *(["node"] if engine == "node" else []))
    given = json.dumps({"url": nginx.url, "key": publisher.text, "folders": folders})
    said = json.loads(run(*command, "main.js", cwd=program(PROGRAM, packages), GIVEN=given, **more))
    check(said, publisher, served, nginx.url)


PAGE = """<!doctype html><meta charset="utf-8"><title>bloomset</title>
<script type="importmap">
{"imports": {"@noble/ed25519": "./@noble/ed25519/index.js", "@noble/hashes/": "./@noble/hashes/"}}
</script>
<script type="module">
  import {follow} from './package/index.js';
  import {outcomes} from './signed_folders.js';
  const {url, key, folders} = GIVEN;
  const worker = new Worker('./worker.js', {type: 'module'});
  const fromWorker = new Promise((done) => { worker.onmessage = ({data}) => done(data); });
  const result = {};
  try {
    for (const from of ['first', 'second']) result[from] = await outcomes(follow, url, key, folders, from);
    result.worker = await fromWorker;
  } catch (error) {
    result.error = String(error);
  }
  window.result = result;
</script>"""
# Import maps are only for pages.
WORKER = """
import {follow} from './package/index.js';
postMessage(await follow('/second/', {publicKey: KEY}).then(() => 'followed', (error) => `${error.code}: ${error.message}`));
"""


def test_in_a_page(package, nginx, served, folders, publisher, request):
    from selenium.webdriver.support.ui import WebDriverWait

    shutil.copytree(package("javascript"), served / "package", ignore=shutil.ignore_patterns("test", "node_modules"))
    shutil.copytree(noble(NEWEST_NOBLE), served / "@noble")
    shutil.copy(OUTCOMES, served)
    given = {"url": nginx.url, "key": publisher.base64, "folders": folders}
    (served / "page.html").write_text(PAGE.replace("GIVEN", json.dumps(given)))
    (served / "worker.js").write_text(WORKER.replace("KEY", json.dumps(publisher.base64)))
    browser = request.getfixturevalue("browser")
    browser.get(f"{nginx.url}/page.html")
    result = WebDriverWait(browser, 120, 0.1).until(lambda page: page.execute_script("return window.result"))
    assert "error" not in result, result
    check(result, publisher, served, nginx.url)
    assert result["worker"].startswith("unsupported: publicKey needs the packages @noble/ed25519 and @noble/hashes, which were not found; ")


def test_without_the_packages(package, run, program, served, folders, publisher):
    """They are needed only for a public key."""
    package("javascript", "node")
    text = """
        import {follow} from 'bloomset';
        const {folder, key} = JSON.parse(process.env.GIVEN);
        const list = await follow(folder);
        console.log(list.has('new1'), list.trustedComment, 'signature' in list.save());
        await follow(folder, {publicKey: key}).catch((error) => console.log(error.name, error.code, error.message));"""
    given = json.dumps({"folder": str(served / "second"), "key": publisher.text})
    assert run("node", "main.js", cwd=program(text, ()), GIVEN=given) == (
        "true undefined false\n"
        "BloomsetError unsupported publicKey needs the packages @noble/ed25519 and @noble/hashes, which were not found; install them with "
        "npm, or name them in the import map of a page without a bundler\n")


def test_keys_and_what_was_saved(package, run, program, served, folders, publisher, tmp_path):
    package("javascript", "node")
    text = """
        import {follow} from 'bloomset';
        const {first, second, key, base64, other, wrong} = JSON.parse(process.env.GIVEN);
        const said = (promise) => promise.then((list) => list.trustedComment, (error) => `${error.name} ${error.code}: ${error.message}`);
        const forms = [];
        for (const publicKey of [key, base64, key.replaceAll('\\n', '\\r\\n'), key.trimEnd(), `${base64}\\n`]) {
          forms.push(await said(follow(second, {publicKey})));
        }
        const refused = [];
        for (const publicKey of wrong) refused.push(await said(follow(second, {publicKey})));
        refused.push(await said(follow(second, {publicKey: undefined})));
        const list = await follow(second, {publicKey: key});
        const saved = structuredClone(list.save());
        const state = [];
        for (const [publicKey, more] of [[key, {}], [other, {}], [key, {signature: undefined}], [key, {manifest: saved.manifest + ' '}],
          [key, {signature: new Uint8Array(100_000)}]]) {
          state.push(await said(follow('/absent', {publicKey, saved: {...saved, ...more}})));
        }
        const later = await follow(first, {publicKey: key, saved});
        state.push(await said(later.refresh()));
        console.log(JSON.stringify({forms, refused, state}));"""
    other = Publisher(tmp_path, "third")
    wrong = ["", "x", publisher.text.splitlines()[0], publisher.text + "more\n", publisher.text.replace("RW", "RX", 1), publisher.base64[:-4],
             publisher.base64[:-1] + "*", publisher.secret.read_text(), publisher.base64[:-4] + "====", 7, None]
    given = json.dumps({"first": str(served / "first"), "second": str(served / "second"), "key": publisher.text, "base64": publisher.base64,
                        "other": other.text, "wrong": wrong})
    said = json.loads(run("node", "main.js", cwd=program(text, NEWEST_NOBLE), GIVEN=given))
    comment = "list of Tuesday, für alle"
    assert said["forms"] == [comment] * 5
    expected = "; give the text of minisign's .pub file, or the 56 characters of the key in it"
    malformed = f"BloomsetError invalid_argument: publicKey: this is not a public key of minisign{expected}"
    assert said["refused"] == [malformed] * 9 + [f"TypeError undefined: publicKey is not a string{expected}"] * 3
    start = "BloomsetError corrupt: the saved manifest"
    assert said["state"][0] == comment
    assert said["state"][1].startswith(f"{start}: it is signed with the key {publisher.id}, and the given key is {other.id}; ")
    assert said["state"][2] == ("BloomsetError incompatible: the saved manifest has no signature, because it was followed without a public "
                                "key; follow the folder without what was saved")
    assert said["state"][3].startswith(f"{start}: the signature is not of this file; ")
    assert said["state"][4].startswith(f"{start}.minisig: this is not a signature of minisign: it is too long; ")
    assert re.match("BloomsetError incompatible: .*: it has the number 1, but 2 was here already; ", said["state"][5])


def test_changed_bytes_and_a_publisher_at_work(package, run, program, served, folders, publisher):
    """No changed byte passes, except in the untrusted comment. A manifest that is replaced between two requests is read again."""
    package("javascript", "node")
    text = """
        import {follow} from 'bloomset';
        import {readFileSync} from 'node:fs';
        const {root, key} = JSON.parse(process.env.GIVEN);
        const read = (folder, address) => new Uint8Array(readFileSync(`${root}/${folder}/${new URL(address).pathname.split('/').pop()}`));
        const open = (fetch) => follow('http://lists.example/pub/', {publicKey: key, fetch: async (url) => new Response(fetch(url))});
        const signature = read('second', 'x:/manifest.json.minisig');
        const comment = signature.indexOf(10);
        const passed = [];
        let tried = 0;
        for (const [name, step, size] of [['manifest.json', 11, read('second', 'x:/manifest.json').length],
          ['manifest.json.minisig', 3, signature.length]]) {
          for (let at = 0; at < size; at += step, ++tried) {
            const file = (url) => {
              const bytes = read('second', url);
              if (url.pathname.endsWith(`/${name}`)) bytes[at] ^= 1;
              return bytes;
            };
            await open(file).then(() => passed.push([name, at]), (error) => { if (!error.code) throw error; });
          }
        }
        const inTheComment = passed.filter(([name, at]) => name === 'manifest.json.minisig' && at < comment).length;
        let requests = 0;
        const replaced = await open((url) => read(requests++ === 0 ? 'first' : 'second', url));
        console.log(JSON.stringify({tried, passed: passed.length, inTheComment, sequence: replaced.sequence}));"""
    given = json.dumps({"root": str(served), "key": publisher.text})
    said = json.loads(run("node", "main.js", cwd=program(text, NEWEST_NOBLE), GIVEN=given))
    assert said["passed"] == said["inTheComment"] > 5 and said["tried"] > 120 and said["sequence"] == 2, said
