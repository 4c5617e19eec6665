// Published folders that are followed: what was saved, and calls that overlap. tests/languages/test_remote.py has patches, layers
// and hostile folders behind nginx.

import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import {build, follow, newKey} from 'bloomset';

const folder = mkdtempSync(path.join(os.tmpdir(), 'bloomset-'));
test.after(() => rmSync(folder, {recursive: true}));
const ADDRESS = 'http://lists.example/pub/';

/** Publishes a filter, its bytes or its keys, as the only file; returns the manifest. */
async function publish(filter, sequence, {more = {}, ...request} = {}) {
  const bytes = ArrayBuffer.isView(filter) ? filter : (await build(filter, request)).toBytes();
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const base = {file: `${sha256.slice(0, 16)}.bloom`, bytes: bytes.length, sha256};
  const manifest = {format: 'bloomset-manifest-1', sequence, published: '2026-11-28T19:00:00Z', max_fpr: 0.02, labels: {}, base,
    patches: [], layers: [], ...more};
  writeFileSync(path.join(folder, base.file), bytes);
  writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  return manifest;
}

/** A fetch that reads the folder; .asked has the names of files. */
function served() {
  const asked = [];
  const answer = async (url) => {
    const name = new URL(url).pathname.split('/').pop();
    asked.push(name);
    return new Response(readFileSync(path.join(folder, name)));
  };
  return Object.assign(answer, {asked});
}
const offline = () => {
  throw new Error('there is no network');
};

test('a followed filter tells which keys have an answer', async () => {
  const vectors = JSON.parse(readFileSync(process.env.BLOOMSET_VECTORS));
  const row = vectors.filters_with_partitions.find((each) => !each.secret);
  const base = Buffer.from(row.bytes, 'base64');
  await publish(base, 1);
  const followed = await follow(ADDRESS, {fetch: served()});
  const keys = vectors.keys_in_partitions.map((hex) => Buffer.from(hex, 'hex'));
  const covered = [...row.answers].map((answer) => answer !== '?');
  assert.deepEqual(followed.coversMany(keys), covered);
  assert.deepEqual(keys.map((key) => followed.covers(key)), covered);
});

test('what was saved is opened without the network, and refreshed', async () => {
  const manifest = await publish(['ann'], 1, {more: {valid_until: '2999-01-01T00:00:00Z'}});
  const first = await follow(ADDRESS, {fetch: served()});
  assert.deepEqual(first.hasMany(['ann', 'bob']), [true, false]);
  assert.deepEqual(first.manifest, manifest);
  assert.equal(first.validUntil.getUTCFullYear(), 2999);
  const saved = structuredClone(first.save());
  const again = await follow(ADDRESS, {saved, fetch: offline});
  assert.deepEqual(again.hasMany(['ann', 'bob']), [true, false]);
  await assert.rejects(again.refresh(), {code: 'io', message: /the transfer failed: there is no network/});
  assert.equal(again.has('ann'), true);
  await publish(['ann', 'bob'], 2);
  const fetch = served();
  const later = await follow(ADDRESS, {saved, fetch});
  assert.deepEqual([later.sequence, fetch.asked.length], [1, 0]);
  const [one, other] = await Promise.all([later.refresh(), later.refresh()]);
  assert.equal(one, other, 'calls that overlap are one');
  assert.equal(fetch.asked.length, 2);
  assert.ok(one.changed && one.whole && later.has('bob') && later.sequence === 2 && later.validUntil === undefined);
  assert.equal((await later.refresh()).changed, false);
});

test('what was saved is checked', async () => {
  await publish(['ann'], 1);
  const saved = (await follow(folder)).save();
  const base = Uint8Array.from(saved.base);
  base[base.length - 1] ^= 1;
  for (const [wrong, message] of [[{base}, /^the saved base: the file is not the one that the manifest names/],
    [{layers: [new Uint8Array(3)]}, /^the saved layers are not those of the saved manifest/],
    [{manifest: saved.manifest.replace('"sequence":1', '"sequence":-1')}, /^the saved manifest: sequence is missing or wrong/],
    [{manifest: 'x'}, /^the saved manifest: this is not a manifest/]]) {
    await assert.rejects(follow(folder, {saved: {...saved, ...wrong}}), {code: 'corrupt', message});
  }
});

test('a secret key, a missing folder, and wrong arguments', async () => {
  const key = await newKey();
  await publish(['ann'], 1, {key});
  assert.equal((await follow(folder, {key})).has('ann'), true);
  await assert.rejects(follow(folder), {code: 'invalid_argument', message: /give the key/});
  await assert.rejects(follow(path.join(folder, 'none')), {code: 'not_found', message: /none\/manifest\.json: there is no such file; give a folder/});
  await assert.rejects(follow(`${ADDRESS}none/`, {fetch: () => new Response(null, {status: 404})}), {code: 'not_found'});
  await assert.rejects(follow('ftp://lists.example/'), TypeError);
  await assert.rejects(follow(folder, {key: new Uint8Array(1)}), TypeError);
  await assert.rejects(follow(ADDRESS, {fetch: served(), maxBytes: 10, key}), {code: 'unsupported', message: /need more than 10 bytes/});
});

test('a transfer that breaks off continues where it ended', async () => {
  const manifest = await publish(Array.from({length: 20_000}, (_, i) => `user${i}`), 1);
  const ranges = [];
  const whole = served();
  const fetch = async (url, {headers}) => {
    const response = await whole(url);
    if (!url.pathname.endsWith('.bloom')) return response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    const from = Number(/^bytes=(\d+)-$/.exec(headers.Range ?? '')?.[1] ?? 0);
    ranges.push(from);
    const broken = new ReadableStream({pull(controller) {
      if (ranges.length < 3 && this.sent) controller.error(new Error('cut'));
      else if (this.sent) controller.close();
      else controller.enqueue(bytes.slice(from, ranges.length < 3 ? from + 7000 : undefined));
      this.sent = true;
    }});
    return new Response(broken, {status: from ? 206 : 200});
  };
  const list = await follow(ADDRESS, {fetch});
  assert.ok(list.has('user7'));
  assert.deepEqual(ranges, [0, 7000, 14_000]);
  assert.equal((await list.refresh()).bytes, JSON.stringify(manifest).length);
});

test('a connection that breaks behind the last byte', async () => {
  await publish(['ann'], 1);
  const whole = served();
  const fetch = async (url, {headers}) => {
    const bytes = new Uint8Array(await (await whole(url)).arrayBuffer());
    if (headers.Range) return new Response(null, {status: 416, headers: {'content-range': `bytes */${bytes.length}`}});
    let sent = false;
    return new Response(new ReadableStream({pull(controller) {
      if (sent) controller.error(new Error('cut'));
      else controller.enqueue(bytes);
      sent = true;
    }}));
  };
  assert.ok((await follow(ADDRESS, {fetch})).has('ann'));
});

test('an address with a query, and a date that is none', async () => {
  await assert.rejects(follow('http://lists.example/pub?token=abc', {fetch: served()}), (error) => {
    assert.ok(error instanceof TypeError && /has no query/.test(error.message) && !/abc/.test(error.message));
    return true;
  });
  await publish(['ann'], 9, {more: {valid_until: '2999-13-01T00:00:00Z'}});
  await assert.rejects(follow(ADDRESS, {fetch: served()}), {code: 'incompatible', message: /was valid until 2999-13-01/});
});
