"""The package for JavaScript in Deno and Bun: the vectors, and filters on a server."""

import shutil
import subprocess

import pytest
from conftest import BLOOMSET, from_npm, missing
from web_servers import nginx, served, surroundings  # noqa: F401

# For each the version of npm's package, the program in it, and the words before a program's name.
ENGINES = {"deno": ("2.9.6", "node_modules/@deno/linux-*-glibc/deno", ("run", "--allow-all")),
           "bun": ("1.4.5", "node_modules/@oven/bun-linux-*/bin/bun", ())}

PROGRAM = """
import {readFileSync, writeFileSync} from 'node:fs';
const {build, follow, open} = await import(process.env.PACKAGE + '/index.js');
const {openRemote} = await import(process.env.PACKAGE + '/remote.js');
const {open: openReader} = await import(process.env.PACKAGE + '/reader.js');
const vectors = JSON.parse(readFileSync(process.env.BLOOMSET_VECTORS, 'utf8'));
const bytes = (hex) => Uint8Array.from(Buffer.from(hex, 'hex'));
const keys = vectors.keys.map(bytes);
let same = 0;
for (const row of vectors.filters) {
  for (const way of [open, openReader]) {
    if (way === openReader && row.hash.endsWith('2x64')) continue;
    const filter = await way(Buffer.from(row.bytes, 'base64'), row.secret ? {key: bytes(vectors.secret)} : {});
    if (filter.hasMany(keys).map(Number).join('') !== row.answers) throw new Error(row.name);
    ++same;
  }
}
writeFileSync('ann.bloom', (await build(['ann'])).toBytes());
console.log(same > 50, (await open('ann.bloom')).has('ann'), (await openReader(new URL('ann.bloom', import.meta.url))).has('bob'));
const remote = await openRemote(process.env.SERVER + '/f.bloom');
const followed = await follow(process.env.SERVER + '/pub/');
console.log(await remote.hasMany(['user7', 'mallory']), remote.traffic.bytes < 5000, followed.hasMany(['user7', 'mallory']));
"""


def path_of(engine):
    """The installed engine, or the one that npm has."""
    if (found := shutil.which(engine)) is not None:
        return found
    version, place, _ = ENGINES[engine]
    tools = from_npm(engine, f"{engine}-{version}", f"{engine}@{version}")
    # Some versions of npm install the programs that need musl, too.
    program = next((found for found in tools.glob(place) if "musl" not in str(found)), None)
    if program is None:
        missing(f"npm has no {engine} for this machine")
    return program


@pytest.mark.parametrize("engine", ENGINES)
def test_the_vectors(package, run, tmp_path, engine, nginx, served):
    program = path_of(engine)
    keys = "".join(f"user{i}\n" for i in range(100_000)).encode()
    subprocess.run([BLOOMSET, "build", "-q", "-o", served / "f.bloom"], input=keys, check=True)
    subprocess.run([BLOOMSET, "publish", "-q", served / "pub", served / "f.bloom"], check=True)
    (tmp_path / "main.mjs").write_text(PROGRAM)
    said = run(program, *ENGINES[engine][2], "main.mjs", cwd=tmp_path, PACKAGE=str(package("javascript")), SERVER=nginx.url)
    assert said.replace(" ", "") == "truetruefalse\n[true,false]true[true,false]\n"
