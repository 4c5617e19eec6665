// The recipe of sharded_filter.py in JavaScript, for any client that knows clusters. The client finds
// the nodes and follows slots; it does not wait for replicas.
//
//     import {ShardedFilter} from './sharded_filter.mjs';
//     const send = (...words) => cluster.call(...words);   // an ioredis Cluster; of node-redis it is
//                                                          // cluster.sendCommand(words[1], false, words)
//     const seen = new ShardedFilter(send, 'seen', 16);
//     await seen.reserve(0.01, 1_000_000);       // once, or each time that a program starts
//     await seen.add(['alice', 'bob']);          // [true, true]
//     await seen.contains(['alice', 'carol']);   // [true, false]
//
// By itself it prints the keys of items: node sharded_filter.mjs seen 16 alice bob

const table = Array.from({length: 256}, (_, n) => {
  for (let bit = 0; bit < 8; ++bit) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});

/** The shard of an item: the CRC-32 of its bytes in UTF-8, modulo the number of shards. */
export function shardOf(item, shards) {
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(item)) crc = table[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ((crc ^ 0xffffffff) >>> 0) % shards;
}

/** The keys that items are in; the items of each, and their places among all. */
export function batches(name, items, shards) {
  const found = new Map();
  items.forEach((item, at) => {
    const key = `${name}:{${shardOf(item, shards)}}`;
    if (!found.has(key)) found.set(key, {key, items: [], places: []});
    found.get(key).items.push(item);
    found.get(key).places.push(at);
  });
  return [...found.values()];
}

/** A shard, or several, did not take all of its items; the message tells the first one and why, and
 *  `cause` is the client's error. `answers` has true or false for each item as ever, and null for
 *  each that was not added, or may not have been if the connection was lost: add those again when
 *  there is room (`bf.max-filter-size`, `bf.max-memory`, `maxmemory`). */
export class Refused extends Error {
  constructor(message, cause, answers) {
    super(message, {cause});
    this.name = 'Refused';
    this.answers = answers;
  }
}

/** `send` takes a command's words, strings all, the second of which is its key, and gives a promise of
 *  the reply in RESP2. */
export class ShardedFilter {
  constructor(send, name, shards = 16) {
    Object.assign(this, {send, name, shards});
  }

  /** True for each item that was new. Rejects with Refused if some were not added; what was added
   *  stays. */
  add(items) {
    return this.#eachShard(items, 'BF.MADD');
  }

  contains(items) {
    return this.#eachShard(items, 'BF.MEXISTS');
  }

  /** `capacity` items in all; a shard has room for a few more than its share. May be called again:
   *  shards that are there stay as they are, and are an error only if they have another rate or less
   *  room. (They have more when they have grown.) */
  async reserve(rate, capacity) {
    const share = Math.floor(capacity / this.shards);
    const room = share + Math.floor(Math.sqrt(36 * share)) + 1;
    const keys = Array.from({length: this.shards}, (_, shard) => `${this.name}:{${shard}}`);
    await Promise.all(keys.map(async (key) => {
      try {
        await this.send('BF.RESERVE', key, `${rate}`, `${room}`);
      } catch (why) {
        if (!why.message.includes('item exists')) throw why;
        await this.#check(key, rate, room);
      }
    }));
  }

  async #check(key, rate, room) {
    const facts = [...await this.send('BF.INFO', key), ...await this.send('BF.STATS', key)];
    const fact = (name) => Number(facts[facts.indexOf(name) + 1]);
    const [hasRate, hasRoom] = [fact('Error rate requested'), fact('Capacity')];
    if (hasRate !== Math.min(rate, 0.25) || hasRoom < room) {  // 0.25 is the server's highest
      throw new Error(`${key} exists, of rate ${hasRate} for ${hasRoom} items, not of rate ${rate} for ${room}`);
    }
  }

  async #eachShard(items, command) {
    const answers = items.map(() => null);
    let refusal;
    await Promise.all(batches(this.name, items, this.shards).map(async ({key, items: its, places}) => {
      const replies = await this.send(command, key, ...its).catch((why) => [why]);
      for (const [n, reply] of replies.entries()) {
        if (reply instanceof Error) {  // the last reply; all else is refused too
          refusal ??= [`${key} refused '${its[n]}': ${reply.message}`, reply];
          break;
        }
        answers[places[n]] = Boolean(reply);
      }
    }));
    if (refusal) {
      const [why, cause] = refusal;
      const left = answers.filter((answer) => answer === null).length;
      throw new Refused(`${why}; ${left} of ${items.length} items have no answer`, cause, answers);
    }
    return answers;
  }
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const [name, shards, ...items] = process.argv.slice(2);
  for (const item of items) console.log(`${name}:{${shardOf(item, Number(shards))}}`);
}
