import {build, create, follow, info, kinds, newKey, open, plan, BloomsetError, type Filter, type FollowedFilter, type Key, type Saved} from 'bloomset';
import {open as openReader, type Reader} from 'bloomset/reader';
import {openRemote, type RemoteFilter} from 'bloomset/remote';
const words: Filter = await build(['ann', 7, 7n, new Uint8Array(3)], {kind: 'ribbon', fpr: '0.1%', labels: {source: 'x'}, layout: 'split'});
const all: boolean[] = words.hasMany(new Set<Key>(['ann']));
const one: boolean = words.has('ann') && words.covers('ann') && words.coversMany(new Set<Key>(['ann']))[0];
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
const remote: RemoteFilter = await openRemote('https://example.org/f.bloom', {maxBytes: 1e6, timeout: 5, signal: AbortSignal.timeout(1000)});
const answers: Promise<boolean[]> = remote.hasMany(['ann', 7n]);
const followed: FollowedFilter = await follow(new URL('https://example.org/pub/'), {key: await newKey(), fetch});
const saved: Saved = followed.save();
const comment: string | undefined = (await follow('pub', {publicKey: 'RW', saved})).trustedComment;
const until: Date | undefined = (await follow('pub', {saved})).validUntil;
const changed: boolean = (await followed.refresh()).changed && followed.has('x') && followed.covers('x') && followed.info().fill > 0 && followed.manifest.layers[0].keys > 1;
// @ts-expect-error: it is a promise
const wrong: boolean = remote.has('x');
// @ts-expect-error: a followed filter is the publisher's
followed.add('x');
// @ts-expect-error: not a key
words.has({});
// @ts-expect-error: the reader does not change filters
reader.add('x');
// @ts-expect-error: the reader opens no filters with partitions
reader.covers('x');
// @ts-expect-error: no such kind
await create({kind: 'blom'});
console.log(all, one, seed, rate, n, options, answers, comment, until, changed, wrong, remote.traffic.bytes);
