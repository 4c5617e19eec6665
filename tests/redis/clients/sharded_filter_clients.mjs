// What examples/valkey-cluster/sharded_filter.mjs does by a client, as one JSON object on stdout.
//   node sharded_filter_clients.mjs FOLDER RECIPE PORT ioredis|node-redis     FOLDER has node_modules

import {createRequire} from 'node:module';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const [folder, recipe, port, client] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(folder), 'package.json'));
const {ShardedFilter, Refused, shardOf} = await import(pathToFileURL(recipe));

const host = '127.0.0.1';
let send, end;
if (client === 'ioredis') {
  const cluster = new (require('ioredis').Cluster)([{host, port: Number(port)}]);
  send = (...words) => cluster.call(...words);
  end = () => cluster.disconnect();
} else {
  const cluster = require('redis').createCluster({rootNodes: [{socket: {host, port: Number(port)}}]});
  await cluster.connect();
  send = (...words) => cluster.sendCommand(words[1], false, words);
  end = () => cluster.destroy();
}

/** The error's message, or null. */
const failure = (promise) => promise.then(() => null, (error) => error.message);

const seen = new ShardedFilter(send, 'seen', 2);
await seen.reserve(0.01, 1000);
const all = {
  add: await seen.add(['alice', 'bob']),
  contains: await seen.contains(['alice', 'carol']),
  reserveAgain: await failure(seen.reserve(0.01, 1000)),
  otherRate: await failure(seen.reserve(1e-7, 1000)),
  lessRoom: await failure(seen.reserve(0.01, 100_000)),
};

// The server lets no filter be larger than 65536 bytes.
const added = [];
for (let first = 0; first < 200_000 && !all.refused; first += 9000) {
  const items = Array.from({length: 9000}, (_, n) => `item${first + n}`);
  let answers;
  try {
    answers = await seen.add(items);
  } catch (why) {
    if (!(why instanceof Refused)) throw why;
    answers = why.answers;
    const item = why.message.match(/refused '(.*?)'/)[1];
    all.refused = {
      name: why.name, message: why.message, item, key: `seen:{${shardOf(item, 2)}}`,
      left: answers.filter((answer) => answer === null).length,
    };
  }
  added.push(...items.filter((_, n) => answers[n] !== null));
}
all.lost = 0;
for (let first = 0; first < added.length; first += 2000) {
  const found = await seen.contains(added.slice(first, first + 2000));
  all.lost += found.filter((is) => !is).length;
}
all.reserveGrown = await failure(seen.reserve(0.01, 1000));

// A key of another type refuses a command as a whole; the other shard's items are added.
await send('SET', 'mixed:{0}', 'a string');
const mixed = new ShardedFilter(send, 'mixed', 2);
const items = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank'];
const {answers} = await mixed.add(items).catch((why) => why);
all.wholeShard = items.every((item, n) => answers[n] === (shardOf(item, 2) === 0 ? null : true));
end();
console.log(JSON.stringify(all));
