// Filters of every kind: opened, queried, built, changed and written.

import {Filter, checkKey, openIn} from './lib/filter.js';
import {FollowedFilter} from './lib/follow.js';
import {checkMany} from './lib/instance.js';
import {PackageModule, bytesOf} from './lib/source.js';
import {webCrypto} from './lib/webcrypto.js';

export {Filter, FollowedFilter};
export {BloomsetError} from './lib/error.js';

const module = new PackageModule(() => new URL('./bloomset.wasm', import.meta.url));

/** The module to use, where a program can load it neither from a file nor by fetch. */
export function useModule(compiled) {
  module.use(compiled);
}

const newInstance = () => module.instance();

// Names and values of a request, one after the other.
function textsOf(request) {
  const texts = [];
  for (const [name, value] of Object.entries(request)) {
    if (value === undefined || value === null) continue;
    if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value)) {
      throw new TypeError(`${name} is a ${typeof value}; give a number, a text or a boolean`);
    }
    texts.push(name, String(value));
  }
  return texts;
}

function runRequest(instance, call, request, key) {
  checkKey(key);
  instance.withTexts(textsOf(request), (...fields) => instance.lend(key, (secret) => {
    instance.run(call, [...fields, secret]);
  }));
}

/** Opens a filter file of any kind. */
export async function open(source, {writable = false, key} = {}) {
  const instance = await newInstance();
  await openIn(instance, source, writable, key);
  return new Filter(instance);
}

/** Follows a filter that is published in a folder of a web server, or here. */
export async function follow(folder, {saved, ...options} = {}) {
  const followed = new FollowedFilter(folder, options, newInstance);
  await (saved === undefined ? followed.refresh() : followed.restore(saved));
  return followed;
}

/** The figures of the filter in a file, which needs no secret key. */
export async function info(source) {
  const instance = await newInstance();
  const {bytes, name} = await bytesOf(source);
  instance.lend(bytes, (at) => instance.run('bloomset_file_info', [at, bytes.length], name));
  return instance.json();
}

/** An empty filter, to add keys to. */
export async function create(request = {}) {
  const instance = await newInstance();
  const {key, labels, ...fields} = request;
  runRequest(instance, 'bloomset_create', fields, key);
  const filter = new Filter(instance);
  if (labels !== undefined) filter.labels = labels;
  return filter;
}

/** A filter of these keys. */
export async function build(keys, request = {}) {
  const instance = await newInstance();
  const {key, labels, others, ...fields} = request;
  runRequest(instance, 'bloomset_begin_build', fields, key);
  const collect = async (all, areOthers) => {
    checkMany(all);
    const batch = instance.batch((bytes, ends, count) => instance.run('bloomset_collect', [bytes, ends, count, areOthers]));
    if (all?.[Symbol.asyncIterator]) {
      for await (const each of all) batch.add(each);
    } else {
      for (const each of all) batch.add(each);
    }
    batch.end();
  };
  await collect(keys, 0);
  if (others !== undefined) await collect(others, 1);
  instance.run('bloomset_end_build');
  const filter = new Filter(instance);
  if (labels !== undefined) filter.labels = labels;
  return filter;
}

/** Plans a filter without making it. */
export async function plan(request) {
  const instance = await newInstance();
  const {key, ...fields} = request;
  delete fields.labels;  // they need no memory
  runRequest(instance, 'bloomset_plan', fields, key);
  return instance.json();
}

/** What is known of each kind, by its name. */
export async function kinds() {
  const instance = await newInstance();
  instance.run('bloomset_kinds');
  return instance.json();
}

/** A secret key of 16 random bytes. */
export async function newKey() {
  return (await webCrypto()).getRandomValues(new Uint8Array(16));
}
