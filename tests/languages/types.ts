import {build, create, info, kinds, newKey, open, plan, BloomsetError, type Filter, type Key} from 'bloomset';
import {open as openReader, type Reader} from 'bloomset/reader';
const words: Filter = await build(['ann', 7, 7n, new Uint8Array(3)], {kind: 'ribbon', fpr: '0.1%', labels: {source: 'x'}, layout: 'split'});
const all: boolean[] = words.hasMany(new Set<Key>(['ann']));
const one: boolean = words.has('ann');
const reader: Reader = await openReader(words.toBytes(), {key: await newKey()});
const seed: bigint = reader.info().seed;
words.labels = {a: 'b'};
const rate: number = words.info().current_fpr;
const best = await plan({capacity: '1M', deletable: true});
const filter = await create({kind: best.kind, capacity: 10, key: await newKey()});
const n: number = filter.addMany(['x']) + filter.count('x');
filter.merge(words); await open(new URL('file:///x'), {writable: true});
try { await info('x'); } catch (error) { if (error instanceof BloomsetError && error.code === 'full') console.log(error.contained); }
const options: Record<string, string> = (await kinds()).bloom.options;
await build((async function* () { yield 'x'; })(), {others: ['y'], kind: 'exact'});
// @ts-expect-error: not a key
words.has({});
// @ts-expect-error: the reader does not change filters
reader.add('x');
// @ts-expect-error: no such kind
await create({kind: 'blom'});
console.log(all, one, seed, rate, n, options);
