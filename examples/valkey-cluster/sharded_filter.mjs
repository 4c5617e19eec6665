// The recipe of sharded_filter.py in JavaScript, for any client that knows clusters:
//
//     import {batches} from './sharded_filter.mjs';
//     for (const {key, items} of batches('seen', ['alice', 'bob'], 16)) {
//       await cluster.call('BF.MADD', key, ...items);     // an ioredis Cluster
//     }
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

/** The keys that items are in, and the items of each. */
export function batches(name, items, shards) {
  const found = new Map();
  for (const item of items) {
    const key = `${name}:{${shardOf(item, shards)}}`;
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(item);
  }
  return [...found].map(([key, its]) => ({key, items: its}));
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const [name, shards, ...items] = process.argv.slice(2);
  for (const item of items) console.log(`${name}:{${shardOf(item, Number(shards))}}`);
}
