"""The package for JavaScript in Deno and Bun, where they are installed: the vectors."""

import shutil

import pytest

PROGRAM = """
import {readFileSync, writeFileSync} from 'node:fs';
const {build, open} = await import(process.env.PACKAGE + '/index.js');
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
"""


@pytest.mark.parametrize("command", [("deno", "run", "--allow-all"), ("bun",)], ids=lambda command: command[0])
def test_the_vectors(package, run, tmp_path, command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed, so the package for JavaScript is not tried there")
    (tmp_path / "main.mjs").write_text(PROGRAM)
    assert run(*command, "main.mjs", cwd=tmp_path, PACKAGE=str(package("javascript"))) == "true true false\n"
