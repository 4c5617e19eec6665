// Size and speed of the JavaScript package beside other packages of npm, as a table in Markdown.
//
//   node compare.mjs PACKAGE [KEYS]
//
// PACKAGE is the folder of the package with its modules (build/languages/javascript). The others are those of package.json
// (`npm install` first). A million keys by default, rate 1%; half of the queried keys are members. Figures are the best of three
// rounds, in which the packages take turns. The size is what a page loads: bundled and minified by esbuild, gzipped, with the
// WebAssembly module. The real rate is measured with the non-members.

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {gzipSync} from 'node:zlib';

const [folder, count = '1000000'] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const esbuild = require('esbuild');
const load = (file) => import(pathToFileURL(path.resolve(folder, file)));
const bloomset = await load('index.js');
const reader = await load('reader.js');
const {BloomFilter} = await import('bloomfilter');
const minibloom = require('@mcrowe/minibloom');
const {BloomFilter: Classic} = require('bloom-filters');

const n = Number(count);
// The slowest package does a twentieth, of which the figures are per key, too.
const keys = Array.from({length: n}, (_, i) => `user${i}@example.com`);
const others = Array.from({length: n}, (_, i) => `other${i}@example.com`);

const oneByOne = (test) => (members, rest) => {
  let found = 0;
  for (const key of members) found += test(key);
  for (const key of rest) found += test(key);
  return found;
};
const inBatches = (filter) => (members, rest) => {
  let found = 0;
  for (const answer of filter.hasMany(members)) found += answer;
  for (const answer of filter.hasMany(rest)) found += answer;
  return found;
};

const subjects = [];
for (const kind of ['blocked_bloom', 'bloom', 'ribbon']) {
  subjects.push({
    name: `bloomset, ${kind}`, entry: 'index.js', wasm: 'bloomset.wasm', build: (all) => bloomset.build(all, {kind}),
    bits: (filter) => 8 * filter.info().bytes, query: (filter) => oneByOne((key) => filter.has(key)), batch: inBatches});
}
subjects.push({
  name: 'bloomset/reader, blocked_bloom', entry: 'reader.js', wasm: 'bloomset-reader.wasm',
  build: async (all) => reader.open((await bloomset.build(all)).toBytes()), isReader: true,
  bits: (filter) => 8 * filter.info().bytes, query: (filter) => oneByOne((key) => filter.has(key)), batch: inBatches});
subjects.push({
  name: 'bloomfilter 1.1.0', entry: 'bloomfilter',
  build: (all) => {
    const filter = BloomFilter.withTargetError(all.length, 0.01);
    for (const key of all) filter.add(key);
    return filter;
  },
  bits: (filter) => filter.m, query: (filter) => oneByOne((key) => filter.test(key))});
subjects.push({
  name: '@mcrowe/minibloom 0.2.0', entry: '@mcrowe/minibloom',
  build: (all) => {
    const filter = minibloom.optimalFilter(all.length, 0.01);
    for (const key of all) filter.add(key);
    return filter;
  },
  bits: (filter) => filter.numBits, query: (filter) => oneByOne((key) => filter.test(key))});
subjects.push({
  name: 'bloom-filters 3.0.4', entry: 'bloom-filters', share: 20,
  build: (all) => {
    const filter = Classic.create(all.length, 0.01);
    for (const key of all) filter.add(key);
    return filter;
  },
  bits: (filter) => filter._size, query: (filter) => oneByOne((key) => filter.has(key))});

async function sizeOf({entry, wasm}) {
  const contents = entry.endsWith('.js') ? `export * from ${JSON.stringify(path.resolve(folder, entry))}` : `export * from '${entry}'`;
  const bundle = await esbuild.build({stdin: {contents, resolveDir: here}, bundle: true, minify: true, write: false, format: 'esm',
    platform: 'browser', external: ['node:*'], logLevel: 'silent'});
  const script = gzipSync(bundle.outputFiles[0].contents, {level: 9}).length;
  return script + (wasm ? gzipSync(readFileSync(path.join(folder, wasm)), {level: 9}).length : 0);
}

const time = async (share, work) => {
  const begin = performance.now();
  const value = await work();
  return [(performance.now() - begin) * 1e6 / share, value];
};

const best = new Map(subjects.map((each) => [each, {}]));
for (let round = 0; round < 3; ++round) {
  for (const each of subjects) {
    const share = Math.ceil(n / (each.share ?? 1));
    const [members, rest] = [keys.slice(0, share), others.slice(0, share)];
    const figures = best.get(each);
    const note = (name, value) => { figures[name] = Math.min(figures[name] ?? Infinity, value); };
    const [built, filter] = await time(share, () => each.build(members));
    if (!each.isReader) note('build', built);
    const [asked, found] = await time(2 * share, () => each.query(filter)(members, rest));
    note('query', asked);
    if (each.batch) note('batch', (await time(2 * share, () => each.batch(filter)(members, rest)))[0]);
    if (found < share) throw new Error(`${each.name} denies a member`);
    figures.rate = (found - share) / share;
    figures.bits = each.bits(filter) / share;
  }
}

const shown = (value, digits = 0) => (value === undefined ? '' : value.toFixed(digits));
console.log('| package | loaded, kB | bits per key | rate, measured | build, ns per key | query, ns per key | in a batch, ns per key |');
console.log('|---|---:|---:|---:|---:|---:|---:|');
for (const [each, figures] of best) {
  console.log(`| ${each.name} | ${shown((await sizeOf(each)) / 1000, 1)} | ${shown(figures.bits, 1)} | ${shown(100 * figures.rate, 2)}% | `
    + `${shown(figures.build)} | ${shown(figures.query)} | ${shown(figures.batch)} |`);
}
