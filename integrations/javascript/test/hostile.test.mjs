// Files that were changed by somebody who also repaired their checksums: an error or answers, never a trap.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';

import {build, create, info, open} from 'bloomset';
import {open as openReader} from 'bloomset/reader';
import {openRemote} from 'bloomset/remote';

const vectors = JSON.parse(readFileSync(process.env.BLOOMSET_VECTORS));
const secret = Uint8Array.from(Buffer.from(vectors.secret, 'hex'));
const keys = [...vectors.keys.slice(0, 60), ...vectors.keys_in_partitions.slice(0, 60)]
  .map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));
const CHANGES = 60;  // of each file

// A generator of numbers below n (Knuth's constants), the same in each run.
let state = 1n;
function random(n) {
  state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
  return Number((state >> 33n) % BigInt(n));
}

const hasher = await create({kind: 'bloom', capacity: 1});  // seed 0, as checksums have

/** The file with right checksums. */
function sealed(file) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const parameters = Math.min(view.getUint32(20, true), file.length - 64);
  view.setBigUint64(48, hasher.hash(file.subarray(64 + parameters)), true);
  const head = new Uint8Array(56 + parameters);
  head.set(file.subarray(0, 56));
  head.set(file.subarray(64, 64 + parameters), 56);
  view.setBigUint64(56, hasher.hash(head), true);
  return file;
}

/** A changed copy: some bytes, or a field, and perhaps another length. */
function changed(file) {
  let copy = Uint8Array.from(file);
  for (let i = random(4); i >= 0; --i) {
    // Most changes are in the header and the parameters, whose fields decide on sizes.
    const at = 8 + random(random(3) === 0 ? copy.length - 8 : Math.min(copy.length - 8, 136));
    copy[at] = [0, 1, 255, 128, copy[at] ^ (1 << random(8)), copy[at] + 1][random(6)];
  }
  if (random(4) === 0) copy = copy.slice(0, 64 + random(copy.length - 63));
  const parameters = new DataView(copy.buffer).getUint32(20, true);
  if (random(2) === 0) new DataView(copy.buffer).setBigUint64(40, BigInt(Math.max(0, copy.length - 64 - parameters)), true);
  return sealed(copy);
}

function check(error, file) {
  assert.equal(error.name, 'BloomsetError', error.stack);
  assert.doesNotMatch(error.message, /the module ended/, Buffer.from(file).toString('base64'));
  assert.notEqual(error.code, 'out_of_memory', error.message);
}

for (const row of [...vectors.filters, ...vectors.filters_with_partitions]) {
  test(row.name, async () => {
    const key = row.secret ? secret : undefined;
    const original = Buffer.from(row.bytes, 'base64');
    assert.deepEqual(Buffer.from(sealed(Uint8Array.from(original))), original, 'a file that is only sealed again');
    for (let i = 0; i < CHANGES; ++i) {
      const file = changed(original);
      for (const way of [open, openReader, (...words) => open(words[0], {...words[1], writable: true}), info]) {
        try {
          const filter = await way(file, {key});
          if (way === info) continue;
          assert.equal(filter.hasMany(keys).length, keys.length);
          if (filter.coversMany) assert.equal(filter.coversMany(keys).length, keys.length);
          filter.info();
          if (filter.toBytes) filter.toBytes();
        } catch (error) {
          check(error, file);
        }
      }
    }
  });
}

/** A server of ranges of a file. */
const serverOf = (file) => async (url, {headers}) => {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.Range) ?? [];
  if (first === undefined) return new Response(file);  // several ranges
  const end = Math.min(Number(last) + 1, file.length);
  return new Response(file.slice(Number(first), end), {status: 206,
    headers: {'content-range': `bytes ${first}-${end - 1}/${file.length}`}});
};

// The checksum of the payload is not checked when parts of it are read, so its bytes need no repair.
const MEMBERS = Array.from({length: 20_000}, (_, i) => `user${i}`);
for (const kind of ['blocked_bloom', 'bloom', 'counting_bloom', 'vector_quotient', 'cuckoo', 'expandable', 'scalable_bloom', 'fuse',
  'ribbon', 'exact']) {
  test(`parts of a ${kind}`, async () => {
    const others = kind === 'exact' ? Array.from({length: 20_000}, (_, i) => `guest${i}`) : undefined;
    const original = (await build(MEMBERS, {kind, others})).toBytes();
    assert.ok(original.length > 5000);
    let answered = 0;
    for (let i = 0; i < 2 * CHANGES; ++i) {
      let file = changed(original);
      if (i % 3 === 0) {  // a payload of other bytes under a right header
        file = Uint8Array.from(original);
        const at = 64 + new DataView(file.buffer).getUint32(20, true);
        for (let j = at + random(64); j < file.length; j += 1 + random(9)) file[j] = random(256);
      }
      try {
        const filter = await openRemote('http://127.0.0.1/f.bloom', {fetch: serverOf(file)});
        assert.equal((await filter.hasMany(['user7', 'guest7', ...keys])).length, 2 + keys.length);
        ++answered;
      } catch (error) {
        check(error, file);
      }
    }
    assert.ok(answered >= 10, String(answered));  // a fuse filter begins with a list that is checked
  });
}
