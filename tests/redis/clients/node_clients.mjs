// What ioredis and node-redis get from a server with the module, as one JSON object on stdout.
//   node node_clients.mjs FOLDER PORT     FOLDER has node_modules

import {createRequire} from 'node:module';
import path from 'node:path';

const [folder, port] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(folder), 'package.json'));
const {createClient, RESP_TYPES} = require('redis');
const {Redis} = require('ioredis');

/** The value, or the error's message. */
const outcome = (promise) => promise.then((value) => value, (error) => ({error: error.message}));

/** node-redis's own helpers, each with its transformation of the reply. */
async function nodeRedis(RESP) {
  const client = createClient({socket: {host: '127.0.0.1', port: Number(port)}, RESP});
  await client.connect();
  const binary = client.withTypeMapping({[RESP_TYPES.BLOB_STRING]: Buffer});
  await client.flushAll();
  const all = {};

  /** A filter, piece by piece, under another name; whether the server then holds the same bytes. */
  async function moved(helper, reader, from, to) {
    const pieces = [];
    for (let iterator = 0; ;) {
      const {iterator: next, chunk} = await reader.scanDump(from, iterator);
      if (Number(next) === 0) break;
      pieces.push([next, chunk]);
      iterator = next;
    }
    const replies = [];
    for (const [iterator, chunk] of pieces) replies.push(await helper.loadChunk(to, iterator, chunk));
    const [a, b] = [await binary.dump(from), await binary.dump(to)];
    return {pieces: pieces.length, replies, same: a.equals(b)};
  }

  const {bf, cf} = client;
  all.bf = {
    reserve: await bf.reserve('users', 0.01, 1000),
    reserveAgain: await outcome(bf.reserve('users', 0.01, 1000)),
    add: [await bf.add('users', 'alice'), await bf.add('users', 'alice')],
    mAdd: await bf.mAdd('users', ['alice', 'bob', 'carol']),
    insert: await bf.insert('more', ['a', 'b', 'a'], {CAPACITY: 500, ERROR: 0.001, EXPANSION: 4}),
    insertNoCreate: await outcome(bf.insert('none', ['a'], {NOCREATE: true})),
    exists: [await bf.exists('users', 'alice'), await bf.exists('users', 'dave'), await bf.exists('none', 'x')],
    mExists: await bf.mExists('users', ['bob', 'dave']),
    card: [await bf.card('users'), await bf.card('none')],
    info: await bf.info('users'),
    fixed: await bf.reserve('fixed', 0.01, 2, {NONSCALING: true}),
    fixedInfo: await bf.info('fixed'),
    full: (await bf.mAdd('fixed', ['x', 'y']), await outcome(bf.add('fixed', 'z'))),
    moved: await moved(bf, binary.bf, 'users', 'users again'),
    movedCard: await bf.card('users again'),
  };
  await client.set('text', 'x');
  all.bf.wrongType = await outcome(bf.add('text', 'a'));
  all.cf = {
    reserve: await cf.reserve('seats', 1000, {BUCKETSIZE: 4, MAXITERATIONS: 20, EXPANSION: 1}),
    add: [await cf.add('seats', 'alice'), await cf.add('seats', 'alice')],
    addNX: [await cf.addNX('seats', 'alice'), await cf.addNX('seats', 'bob')],
    insert: await cf.insert('other', ['a', 'b'], {CAPACITY: 500}),
    insertNX: await cf.insertNX('other', ['b', 'c'], {CAPACITY: 500}),
    insertNoCreate: await outcome(cf.insert('none', ['a'], {NOCREATE: true})),
    exists: [await cf.exists('seats', 'bob'), await cf.exists('seats', 'dave')],
    count: [await cf.count('seats', 'alice'), await cf.count('seats', 'dave')],
    del: [await cf.del('seats', 'alice'), await cf.del('seats', 'alice'), await cf.del('seats', 'alice')],
    info: await cf.info('seats'),
    moved: await moved(cf, binary.cf, 'seats', 'seats again'),
    movedExists: await cf.exists('seats again', 'bob'),
  };
  await client.close();
  return all;
}

/** ioredis has no helpers of its own: commands by name, pipelines, commands made known, scripts. */
async function ioredis() {
  const client = new Redis({host: '127.0.0.1', port: Number(port)});
  await client.flushall();
  const all = {
    reserve: await client.call('BF.RESERVE', 'users', '0.01', '1000'),
    add: [await client.call('BF.ADD', 'users', 'alice'), await client.call('bf.add', 'users', 'alice')],
    mAdd: await client.call('BF.MADD', ['users', 'alice', 'bob']),
    together: await Promise.all(['alice', 'dave'].map((who) => client.call('BF.EXISTS', 'users', who))),
    pipeline: await client.pipeline().call('BF.CARD', 'users').call('CF.ADD', 'seats', 'a').call('CF.COUNT', 'seats', 'a').exec(),
    transaction: await client.multi().call('BF.ADD', 'users', 'erin').call('BF.EXISTS', 'users', 'erin').exec(),
    info: await client.call('BF.INFO', 'users'),
  };
  client.addBuiltinCommand('bf.mexists');
  all.builtin = await client['bf.mexists']('users', 'alice', 'dave');
  client.defineCommand('firstTime', {numberOfKeys: 1, lua: "return redis.call('BF.ADD', KEYS[1], ARGV[1])"});
  all.script = [await client.firstTime('users', 'frank'), await client.firstTime('users', 'frank')];
  all.error = await outcome(client.call('BF.ADD', 'users'));
  // Pieces are bytes, which are not to be read as text.
  all.loaded = [];
  for (let iterator = 0; ;) {
    const [next, data] = await client.callBuffer('BF.SCANDUMP', 'users', iterator);
    if (next === 0) break;
    all.loaded.push(await client.call('BF.LOADCHUNK', 'again', next, data));
    iterator = next;
  }
  all.same = (await client.dumpBuffer('again')).equals(await client.dumpBuffer('users'));
  await client.quit();
  return all;
}

console.log(JSON.stringify({resp2: await nodeRedis(2), resp3: await nodeRedis(3), ioredis: await ioredis()},
  (_, value) => (typeof value === 'bigint' ? Number(value) : value)));
