"""The package for JavaScript in Node: its own tests, its files, and its types."""

import json
import pathlib
import shutil
import subprocess

from conftest import PACKAGES, from_npm

TYPESCRIPT = "5.6.3"


def test_its_own_tests(package, run):
    tap = run("node", "--test", "--test-reporter=tap", "test/", cwd=package("javascript", "node"))
    assert "# fail 0" in tap and "# skipped 0" in tap
    assert int(tap.split("# pass ")[1].split()[0]) > 100


def test_the_modules_import_nothing(package, run):
    script = """
        for (const name of ['bloomset', 'bloomset-reader', 'bloomset-remote']) {
          const bytes = require('fs').readFileSync(name + '.wasm');
          console.log(name, WebAssembly.Module.imports(new WebAssembly.Module(bytes)).length,
                      require('zlib').gzipSync(bytes, {level: 9}).length);
        }"""
    lines = run("node", "-e", script, cwd=package("javascript", "node")).split("\n")
    whole, reader, remote = (line.split() for line in lines if line)
    assert whole[1] == reader[1] == remote[1] == "0"
    assert int(reader[2]) <= 60_000, "the reader is for pages whose size counts"
    assert int(remote[2]) <= 75_000, "so is this one"


def test_a_program_that_installs_the_archive(package, run, tmp_path):
    folder = package("javascript", "node", "npm")
    packed = json.loads(run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", tmp_path, cwd=folder))
    names = {file["path"] for file in packed[0]["files"]}
    assert names == {"LICENSE", "README.md", "package.json", "index.js", "index.d.ts", "reader.js", "reader.d.ts", "remote.js",
                     "remote.d.ts", "bloomset.wasm", "bloomset-reader.wasm", "bloomset-remote.wasm", "lib/error.js", "lib/filter.js",
                     "lib/follow.js", "lib/http.js", "lib/instance.js", "lib/manifest.js", "lib/signature.js", "lib/source.js",
                     "lib/webcrypto.js"}
    program = tmp_path / "program"
    program.mkdir()
    (program / "package.json").write_text('{"type": "module"}')
    run("npm", "install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts", tmp_path / packed[0]["filename"], cwd=program)
    (program / "main.js").write_text("""
        import {build, open} from 'bloomset';
        import {open as openReader} from 'bloomset/reader';
        const words = await build(['ann', 'bob', 'cid'], {fpr: '0.1%'});
        for (const way of [open, openReader]) console.log((await way(words.toBytes())).hasMany(['ann', 'dan']));
    """)
    assert run("node", "main.js", cwd=program) == "[ true, false ]\n" * 2


def test_a_trap_is_an_error_and_ends_the_filter(package, run):
    # A build collects the hashes of its keys, here in an instance whose memory is nearly used up.
    script = """
        import {build} from 'bloomset';
        const instantiate = WebAssembly.instantiate;
        let instance;
        WebAssembly.instantiate = async (...words) => (instance = await instantiate(...words));
        function* many() {
          for (let size = 2 ** 30; size >= 2 ** 20; size /= 2) while (instance.exports.bloomset_alloc(size));
          for (let i = 0; ; ++i) yield i;
        }
        try { await build(many()); } catch (error) { console.log(error.name, error.code, error.message); }
        console.log((await build(['x'])).has('x'));"""
    done = subprocess.run(["node", "--input-type=module", "-e", script], cwd=package("javascript", "node"),
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == ("BloomsetError out_of_memory there is not enough memory for this filter; use a smaller one, or the "
                           "command line\ntrue\n"), done.stderr


def test_the_types(package, run):
    """A program that uses every function, and mistakes that the compiler must find."""
    types = pathlib.Path(__file__).with_name("types.ts")
    package("javascript", "node", "npm")
    tools = from_npm("TypeScript", f"typescript-{TYPESCRIPT}", f"typescript@{TYPESCRIPT}")
    modules = tools / "node_modules"
    (modules / "bloomset").unlink(missing_ok=True)
    (modules / "bloomset").symlink_to(PACKAGES / "javascript")
    shutil.copy(types, tools)
    for module, resolution in [("nodenext", "nodenext"), ("esnext", "bundler")]:
        assert run("node", "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--target", "es2022", "--module", module,
                   "--moduleResolution", resolution, "--lib", "es2022,dom,dom.iterable", types.name, cwd=tools) == ""
