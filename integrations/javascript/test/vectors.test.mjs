// The vectors that all languages share (tests/languages/vectors.json).

import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import test from 'node:test';

import {build, create, info, open} from 'bloomset';
import {open as openReader} from 'bloomset/reader';

const vectors = JSON.parse(readFileSync(process.env.BLOOMSET_VECTORS));
const bytes = (hex) => Uint8Array.from(Buffer.from(hex, 'hex'));
const keys = vectors.keys.map(bytes);
const secret = bytes(vectors.secret);
const contents = (row) => Buffer.from(row.bytes, 'base64');

const allRows = [...vectors.filters.map((row) => [row, keys]),
  ...vectors.filters_with_partitions.map((row) => [row, vectors.keys_in_partitions.map(bytes)])];

for (const [row, keys] of allRows) {
  const key = row.secret ? secret : undefined;
  const expected = [...row.answers].map((answer) => answer === '1');
  const covered = [...row.answers].map((answer) => answer !== '?');
  const refusal = row.hash.endsWith('2x64') ? /128-bit hashes/ : row.hash.endsWith('-partitioned') ? /partitions/ : undefined;

  test(`${row.name} has the answers of the command line`, async () => {
    for (const writable of [false, true]) {
      const filter = await open(contents(row), {key, writable});
      assert.deepEqual(filter.hasMany(keys), expected);
      assert.deepEqual(keys.map((each) => filter.has(each)), expected);
      assert.deepEqual(filter.coversMany(keys), covered);
      assert.deepEqual(keys.map((each) => filter.covers(each)), covered);
      assert.deepEqual(Buffer.from(filter.toBytes()), contents(row));
    }
    const {kind, capacity, count, hash, seed, labels} = await info(contents(row));
    assert.deepEqual({kind, capacity, count, hash, seed: String(seed), labels},
      {kind: row.kind, capacity: row.capacity, count: row.count, hash: row.hash, seed: row.seed, labels: row.labels});
  });

  test(`${row.name} in the reader`, async () => {
    if (refusal) {
      await assert.rejects(openReader(contents(row), {key}), {code: 'unsupported', message: refusal});
      return;
    }
    const filter = await openReader(contents(row), {key});
    assert.deepEqual(filter.hasMany(keys), expected);
    assert.deepEqual(keys.map((each) => filter.has(each)), expected);
    const whole = (await open(contents(row), {key})).info();
    for (const [name, value] of Object.entries(filter.info())) {
      assert.deepEqual(value, name === 'exceptions' ? whole[name] ?? 0 : whole[name], name);
    }
  });

  if (row.secret) {
    test(`${row.name} needs its key`, async () => {
      for (const way of [open, openReader]) {
        if (way === openReader && refusal) continue;
        await assert.rejects(way(contents(row)), {code: 'invalid_argument', message: /hashed with a secret key; give the key/});
        await assert.rejects(way(contents(row), {key: new Uint8Array(16)}), {message: /made with another secret key/});
      }
      await assert.rejects(open(contents(row), {key: new Uint8Array(15)}), TypeError);
    });
  }
}

test('hashes are XXH3', async () => {
  const seen = await create({kind: 'bloom', capacity: 10});
  assert.equal(vectors.hashes.seed, '0');
  assert.deepEqual(keys.map((key) => String(seen.hash(key))), vectors.hashes.values);
});

const {prefix, count, times} = vectors.built_keys;
const builtKeys = Array.from({length: count * times}, (_, i) => `${prefix}${i % count}`);

for (const row of vectors.builds) {
  test(`the file of the command line: ${JSON.stringify(row.request)}`, async () => {
    const file = (await build(builtKeys, row.request)).toBytes();
    assert.equal(file.length, row.size);
    assert.equal(createHash('sha256').update(file).digest('hex'), row.sha256);
  });
}

for (const row of vectors.refused) {
  test(`refused: ${row.name}`, async () => {
    for (const way of [open, openReader, info]) {
      await assert.rejects(way(contents(row)), (error) => {
        assert.equal(error.name, 'BloomsetError');
        assert.match(error.message, /^the bytes: .{20,}; .{10,}/);
        return true;
      });
    }
  });
}
