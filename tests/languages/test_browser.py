"""The package for JavaScript in Chromium: the vectors, in a page and in a worker."""

import functools
import http.server
import json
import shutil
import threading

from conftest import ROOT, VECTORS

PAGE = """<!doctype html><meta charset="utf-8"><title>bloomset</title>
<script type="module">
  import {build, open} from './index.js';
  import {open as openReader} from './reader.js';
  import {answersOf} from './answers.js';
  const worker = new Worker('./worker.js', {type: 'module'});
  const fromWorker = new Promise((done) => { worker.onmessage = ({data}) => done(data); });
  const vectors = await (await fetch('./vectors.json')).json();
  const words = await build(['ann', 'bob'], {fpr: '0.1%'});
  const file = new File([words.toBytes()], 'words.bloom');
  const refused = await open('missing.bloom').catch((error) => error.message);
  window.result = {whole: await answersOf(vectors, open), reader: await answersOf(vectors, openReader),
                   worker: await fromWorker, file: (await open(file)).hasMany(['ann', 'cid']),
                   address: (await openReader('words.bloom')).hasMany(['member-1', 'x']), refused};
</script>"""

ANSWERS = """
const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16));
export async function answersOf(vectors, open) {
  const keys = vectors.keys.map(bytes);
  const all = {};
  for (const row of vectors.filters) {
    const file = Uint8Array.from(atob(row.bytes), (c) => c.charCodeAt(0));
    try {
      const filter = await open(file, row.secret ? {key: bytes(vectors.secret)} : {});
      all[row.name] = filter.hasMany(keys).map(Number).join('');
    } catch (error) {
      all[row.name] = error.code;
    }
  }
  return all;
}
"""

WORKER = """
import {open} from './reader.js';
import {answersOf} from './answers.js';
const vectors = await (await fetch('./vectors.json')).json();
postMessage(await answersOf(vectors, open));
"""


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_the_vectors(package, browser, tmp_path):
    from selenium.webdriver.support.ui import WebDriverWait

    site = tmp_path / "site"
    shutil.copytree(package("javascript"), site, ignore=shutil.ignore_patterns("test", "node_modules"))
    (site / "page.html").write_text(PAGE)
    (site / "answers.js").write_text(ANSWERS)
    (site / "worker.js").write_text(WORKER)
    shutil.copy(VECTORS, site / "vectors.json")
    shutil.copy(ROOT / "tests" / "golden" / "bloom-double.bloom", site / "words.bloom")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        browser.get(f"http://127.0.0.1:{server.server_port}/page.html")
        result = WebDriverWait(browser, 60, 0.05).until(lambda page: page.execute_script("return window.result"))
    finally:
        server.shutdown()
    vectors = json.loads(VECTORS.read_text())
    expected = {row["name"]: row["answers"] for row in vectors["filters"]}
    assert result["whole"] == expected
    small = {row["name"]: "unsupported" if row["hash"].endswith("2x64") else row["answers"] for row in vectors["filters"]}
    assert result["reader"] == small
    assert result["worker"] == small
    assert result["file"] == [True, False]
    assert result["address"] == [True, False]
    assert result["refused"] == "missing.bloom: the server answered 404 File not found; give the address of a filter file"
