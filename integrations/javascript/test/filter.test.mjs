// What a program does with filters, in the words of the README.

import assert from 'node:assert/strict';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import {pathToFileURL} from 'node:url';
import {Worker} from 'node:worker_threads';

import {Filter, build, create, info, kinds, newKey, open, plan} from 'bloomset';
import {open as openReader} from 'bloomset/reader';

const folder = mkdtempSync(path.join(os.tmpdir(), 'bloomset-'));
test.after(() => rmSync(folder, {recursive: true}));
const users = Array.from({length: 1000}, (_, i) => `user${i}`);

test('a file, a URL, bytes, a blob and a response are the same filter', async () => {
  const file = path.join(folder, 'users.bloom');
  const bytes = (await build(users)).toBytes();
  writeFileSync(file, bytes);
  const server = createServer((request, response) => {
    if (request.url === '/users.bloom') response.end(bytes);
    else response.writeHead(404).end();
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const address = `http://127.0.0.1:${server.address().port}`;
  try {
    const sources = [file, pathToFileURL(file), pathToFileURL(file).href, bytes, bytes.buffer, Buffer.from(bytes),
      new Blob([bytes]), () => new Response(bytes), `${address}/users.bloom`, new URL(`${address}/users.bloom`)];
    for (const source of sources) {
      for (const way of [open, openReader]) {
        const filter = await way(typeof source === 'function' ? source() : source);
        assert.deepEqual(filter.hasMany(['user7', 'user999', 'mallory']), [true, true, false]);
      }
      assert.equal((await info(typeof source === 'function' ? source() : source)).capacity, 1000);
    }
    await assert.rejects(open(`${address}/missing`), {code: 'not_found', message: /the server answered 404 Not Found; give/});
  } finally {
    server.close();
  }
  await assert.rejects(open(path.join(folder, 'missing')), {code: 'ENOENT'});
  await assert.rejects(open(7), TypeError);
  writeFileSync(file, 'a text');
  await assert.rejects(open(file), {code: 'corrupt', message: /users\.bloom: this is not a Bloomset filter/});
});

test('keys are strings, bytes and whole numbers', async () => {
  const filter = await build([7, -1n, '7', 'Zoë', new Uint8Array([1, 2])]);
  const eight = (...bytes) => new Uint8Array([...bytes, ...Array(8 - bytes.length).fill(0)]);
  assert.ok(filter.hasMany([7n, eight(7), 2n ** 64n - 1n, new Uint8Array(8).fill(255), '7', new Uint8Array([0x37]),
    new Uint8Array([0x5a, 0x6f, 0xc3, 0xab]), new Uint16Array([0x0201]), new Uint8Array([1, 2]).buffer]).every(Boolean));
  assert.deepEqual(filter.hasMany([8, 'Zoe', '']), [false, false, false]);
  for (const wrong of [1.5, 2 ** 53, NaN, 2n ** 64n, -(2n ** 63n) - 1n, null, undefined, true, {}, Symbol('x'), '\ud800']) {
    assert.throws(() => filter.has(wrong), TypeError);
    assert.throws(() => filter.hasMany([wrong]), TypeError);
  }
});

test('keys of every length are the same alone and in a batch', async () => {
  const lengths = [0, 1, 39, 40, 41, 1000, 43_690, 43_691, 131_072, 131_073, 1_000_000];
  const keys = lengths.flatMap((n) => ['x'.repeat(n), 'ë'.repeat(n / 2), new Uint8Array(n).fill(n % 251)]);
  const filter = await build(keys, {fpr: 1e-6});
  assert.ok(filter.hasMany(keys).every(Boolean));
  assert.ok(keys.every((key) => filter.has(key)));
  assert.equal(filter.has('x'.repeat(131_074)), false);
});

test('batches of any size', async () => {
  const keys = Array.from({length: 50_000}, (_, i) => `key number ${i}`);
  const filter = await create({capacity: keys.length, fpr: 1e-9, kind: 'bloom'});
  assert.equal(filter.addMany(keys.slice(0, 25_000)), 25_000);
  assert.deepEqual(filter.hasMany(keys), keys.map((_, i) => i < 25_000));
  assert.deepEqual(filter.hasMany(new Set(['key number 3', 'x'])), [true, false]);
  assert.deepEqual(filter.hasMany([]), []);
});

test('changes, as far as the kind can', async () => {
  const seen = await create({kind: 'vector_quotient', capacity: 100});
  assert.ok(seen instanceof Filter);
  assert.equal(seen.add('ann'), true);
  assert.equal(seen.add('ann'), false);
  assert.equal(seen.count('ann'), 2);
  assert.deepEqual(seen.countMany(['ann', 'bob']), [2, 0]);
  assert.equal(seen.delete('ann'), true);
  assert.equal(seen.deleteMany(['ann', 'bob']), 1);
  assert.equal(seen.has('ann'), false);
  seen.add('cid');
  seen.clear();
  assert.equal(seen.has('cid'), false);

  const bloom = await create({kind: 'bloom', capacity: 100});
  assert.throws(() => bloom.delete('x'), {code: 'unsupported', message: 'a filter of kind bloom cannot erase'});
  const readOnly = await open(bloom.toBytes());
  assert.throws(() => readOnly.add('x'), {code: 'unsupported', message: /opened read-only, cannot insert/});
  const copy = await open(bloom.toBytes(), {writable: true});
  assert.equal(copy.add('x'), true);
  assert.equal(copy.has('x'), true);
  assert.equal(bloom.has('x'), false, 'each filter has memory of its own');
});

test('a full filter says how many keys it contains', async () => {
  const small = await create({kind: 'cuckoo', capacity: 8});
  assert.throws(() => small.addMany(users), (error) => {
    assert.equal(error.code, 'full');
    assert.ok(error.contained > 7 && error.contained < 100);
    assert.ok(small.hasMany(users.slice(0, error.contained)).every(Boolean));
    return true;
  });
});

test('unions and intersections', async () => {
  const request = {kind: 'blocked_bloom', capacity: 2000, fpr: 1e-6};
  const monday = await build(users.slice(0, 600), request);
  const tuesday = await build(users.slice(400), request);
  const both = await open(monday.toBytes(), {writable: true});
  both.intersect(tuesday);
  assert.deepEqual(both.hasMany(['user1', 'user500', 'user999']), [false, true, false]);
  monday.merge(tuesday);
  assert.deepEqual(monday.hasMany(['user1', 'user500', 'user999', 'x']), [true, true, true, false]);
  const other = await create({kind: 'cuckoo', capacity: 100});
  assert.throws(() => monday.merge(other), {code: 'incompatible'});
});

test('labels and exceptions go into the file', async () => {
  const filter = await build(users, {labels: {source: 'example.org', licence: 'CC0'}});
  assert.deepEqual(filter.labels, {licence: 'CC0', source: 'example.org'});
  const others = Array.from({length: 5000}, (_, i) => `other${i}`);
  const mistaken = others.filter((key) => filter.has(key));
  assert.ok(mistaken.length > 5);
  assert.equal(filter.addExceptions(mistaken), mistaken.length);
  filter.labels = {seed: '7', note: 'a "quoted", "seed":12, text\u00e9'};
  const file = filter.toBytes();
  for (const way of [open, openReader]) {
    const again = await way(file);
    assert.deepEqual(again.labels, {note: 'a "quoted", "seed":12, text\u00e9', seed: '7'});
    assert.equal(again.info().seed, 0n);
    assert.equal(again.info().exceptions, mistaken.length);
    assert.equal(again.hasMany(others).filter(Boolean).length, 0);
    assert.ok(again.hasMany(users).every(Boolean));
  }
  assert.equal(filter.removeExceptions(mistaken.slice(1)), mistaken.length - 1);
  assert.equal(filter.has(mistaken[1]), true);
  assert.throws(() => { filter.labels = {'Not a name': 'x'}; }, {code: 'invalid_argument'});
  assert.throws(() => { filter.labels = {name: 'two\nlines'}; }, {code: 'invalid_argument'});
});

test('secret keys', async () => {
  const key = await newKey();
  assert.equal(key.length, 16);
  const filter = await build(users, {key, kind: 'fuse'});
  assert.equal(filter.info().hash, 'siphash');
  assert.ok((await open(filter.toBytes(), {key})).has('user7'));
  assert.ok((await openReader(filter.toBytes(), {key})).has('user7'));
  await assert.rejects(open(filter.toBytes()), {code: 'invalid_argument'});
  assert.equal((await info(filter.toBytes())).hash, 'siphash');
  await assert.rejects(build(users, {key, seed: 7}), {message: 'a filter has a seed or a key; give one of them'});
});

test('a secret key is its bytes in any view, and nothing else is one', async () => {
  const key = await newKey();
  const sealed = await build(users, {kind: 'fuse', key});
  for (const view of [new Uint32Array(key.buffer.slice(0)), new DataView(key.buffer), new Uint16Array(key.buffer.slice(0))]) {
    assert.deepEqual((await build(users, {kind: 'fuse', key: view})).toBytes(), sealed.toBytes());
    assert.ok((await open(sealed.toBytes(), {key: view})).has('user1'));
  }
});

test('two sets', async () => {
  const revoked = users.filter((_, i) => i % 10 === 0);
  const filter = await build(revoked, {kind: 'exact', others: users});
  assert.deepEqual(users.filter((user) => filter.has(user)), revoked);
  await assert.rejects(build(users, {others: ['x']}), {message: /built from its members alone/});
});

test('keys from a stream', async () => {
  async function* stream() {
    yield* users;
  }
  assert.deepEqual((await build(stream())).toBytes(), (await build(users)).toBytes());
});

test('plans and kinds', async () => {
  const best = await plan({capacity: '1M', fpr: '1%', deletable: true});
  assert.equal(best.kind, 'vector_quotient');
  assert.ok(best.bits_per_key < 10 && best.planned_fpr <= 0.01);
  assert.ok(best.ranked.length > 2 && best.ranked[0].kind && best.refused.bloom && best.reason);
  assert.equal((await plan({kind: 'bloom', capacity: 1000, fpr: 0.01})).hashes, 7);
  const all = await kinds();
  assert.deepEqual(Object.keys(all).length, 10);
  assert.match(all.counting_bloom.options.counter_bits, /4, 8 or 16/);
});

test('wrong requests are sentences', async () => {
  for (const [request, code, message] of [
    [{kind: 'blom'}, 'invalid_argument', /'blom' is not a kind of filter; the kinds are/],
    [{capacity: 'many'}, 'invalid_argument', /^capacity: .*many/],
    [{fpr: 2}, 'invalid_argument', /^fpr: /],
    [{hashes: 65}, 'invalid_argument', /^hashes: '65' is not a whole number from 0 to 64/],
    [{seed: -1}, 'invalid_argument', /^seed: /],
    [{capacity: 10, colour: 'red'}, 'invalid_argument', /has no option 'colour'; it has/],
    [{kind: 'ribbon'}, 'unsupported', /built once from all its keys and cannot begin empty; use build/],
    [{capacity: 10, deletable: true}, 'invalid_argument', /give the kind that a plan/],
  ]) {
    await assert.rejects(create({capacity: 10, ...request}), {name: 'BloomsetError', code, message});
  }
  await assert.rejects(create({capacity: [10]}), TypeError);
});

test('a filter larger than the memory is refused, and the next one works', async () => {
  await assert.rejects(create({capacity: 1e10}), {code: 'out_of_memory', message: /bytes.*smaller/});
  assert.equal((await create({capacity: 10})).add('x'), true);
});

test('many filters at once', async () => {
  const bytes = (await build(users)).toBytes();
  const all = [];
  for (let i = 0; i < 300; ++i) all.push(await openReader(bytes));
  assert.ok(all.every((filter) => filter.has('user7')));
});

test('in a worker', async () => {
  const bytes = (await build(users)).toBytes();
  const worker = new Worker(`
    const {parentPort, workerData} = require('node:worker_threads');
    import('bloomset').then(async ({open}) => parentPort.postMessage((await open(workerData)).hasMany(['user7', 'x'])));
  `, {eval: true, workerData: bytes});
  assert.deepEqual(await new Promise((done, failed) => worker.once('message', done).once('error', failed)), [true, false]);
});

test('a string is one key, where many are expected', async () => {
  const filter = await create({capacity: 100});
  for (const call of [() => filter.addMany('ann'), () => filter.hasMany('ann')]) assert.throws(call, /a string is one key/);
  for (const call of [() => filter.addMany(Buffer.from('ann')), () => filter.hasMany(new Uint8Array(3))]) {
    assert.throws(call, /bytes are one key/);
  }
  await assert.rejects(build(new Uint8Array(3).buffer), /bytes are one key/);
  await assert.rejects(build('ann'), /a string is one key/);
  assert.equal(filter.has('a'), false);
});

test('copies of a key are told from a filter without room', async () => {
  const filter = await create({kind: 'cuckoo', capacity: 1000});
  assert.throws(() => filter.addMany(Array(100).fill('x')), {code: 'full', message: /as many copies of a key/});
  const twice = Array.from({length: 20_000}, (_, i) => `k${i >> 1}`);
  assert.ok((await build(twice, {kind: 'cuckoo'})).hasMany(twice).every(Boolean));
  await assert.rejects(build(Array(100).fill('x'), {kind: 'cuckoo'}), {code: 'full', message: /as many copies of a key/});
});

test('the secret key of another filter has 16 bytes', async () => {
  const key = await newKey();
  const [one, other] = [await build(['a'], {key}), await build(['b'], {key})];
  for (const wrong of ['abcdefghijklmnop', new Uint8Array(5), new Uint8Array(32), null]) {
    assert.throws(() => one.merge(other, {key: wrong}), /a secret key has 16 bytes/);
  }
  one.merge(other, {key});
  assert.ok(one.has('b'));
});
