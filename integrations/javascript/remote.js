// Filters that stay on a web server: only the bytes that queries need are read.

import {BloomsetError} from './lib/error.js';
import {SmallReader, checkKey, instanceOf} from './lib/filter.js';
import {Connection, RangedFile, addressOf, joinNear} from './lib/http.js';
import {checkMany} from './lib/instance.js';
import {PackageModule} from './lib/source.js';

export {BloomsetError};

const FIRST_BYTES = 4096;  // the header of most filters, and all of a small one
const MAX_FILE = 2 ** 31 - 1;  // what a module has addresses for

/** A filter of whose file only parts are here. */
export class RemoteFilter extends SmallReader {
  #connection;
  #file;  // undefined once all bytes are here
  #cost = 0;
  #last = Promise.resolve();

  constructor(instance, connection, file) {
    super(instance);
    this.#connection = connection;
    this.#file = file;
  }

  async has(key) {
    return (await this.hasMany([key]))[0];
  }
  async hasMany(keys) {
    checkMany(keys);
    const all = Array.from(keys, asTheyAre);
    // One after the other, so that none reads what another one is reading.
    const answers = this.#last.then(async () => {
      await this.#fetchFor(all);
      return this[instanceOf].mayContainMany(all);
    });
    this.#last = answers.catch(() => {});
    return answers;
  }
  /** What was read until now. */
  get traffic() {
    return {requests: this.#connection.requests, bytes: this.#connection.received};
  }

  async #fetchFor(keys) {
    const instance = this[instanceOf];
    while (this.#file) {
      let missing = [];
      instance.inBatches(keys, (...list) => {
        instance.run('bloomset_missing_to_query', list.slice(0, 3));
        missing = missing.concat(rangesIn(instance.answer()));
      });
      missing = joinNear(missing, 0);
      if (missing.length === 0) return;
      this.#cost += RangedFile.costOf(missing);
      const {size} = this.#file;
      // Once the answers cost as much as the file, the file is read.
      const isAll = this.#cost >= size && this.#connection.received + size <= this.#connection.maxBytes;
      await this.#file.read(isAll ? [[FIRST_BYTES, size]] : missing, (at, bytes) => put(instance, at, bytes));
    }
  }
}

// The caller may change bytes before they are read.
function asTheyAre(key) {
  if (ArrayBuffer.isView(key)) return new Uint8Array(key.buffer, key.byteOffset, key.byteLength).slice();
  return key instanceof ArrayBuffer ? key.slice(0) : key;
}

function rangesIn(answer) {
  const numbers = new Uint32Array(answer.buffer);
  return Array.from({length: numbers.length / 2}, (_, i) => [numbers[2 * i], numbers[2 * i + 1]]);
}

function put(instance, at, bytes) {
  instance.lend(bytes, (from) => instance.run('bloomset_put_part', [at, from, bytes.length]));
}

const module = new PackageModule(() => new URL('./bloomset-remote.wasm', import.meta.url));

/** The module to use, where a program can load it neither from a file nor by fetch. */
export function useModule(compiled) {
  module.use(compiled);
}

/** Opens a filter with 64-bit hashes where it is on a web server, without downloading it. */
export async function openRemote(address, {key, ...limits} = {}) {
  checkKey(key);
  const url = addressOf(address);
  const name = String(url);
  const connection = new Connection(limits);
  const file = new RangedFile(url, connection);
  const [instance, first] = await Promise.all([module.instance(), file.begin(FIRST_BYTES)]);
  if (file.size > MAX_FILE) {
    throw new BloomsetError('unsupported', `${name}: the filter has ${file.size} bytes, more than the 2 GiB that can be `
      + 'queried so; use the command line');
  }
  instance.run('bloomset_begin_part', [file.size], name);
  put(instance, 0, first);
  for (;;) {
    instance.run('bloomset_missing_to_open', [], name);
    const missing = rangesIn(instance.answer());
    if (missing.length === 0) break;
    await file.read(missing, (at, bytes) => put(instance, at, bytes));
  }
  instance.lend(key, (secret) => instance.run('bloomset_open_part', [secret], name));
  return new RemoteFilter(instance, connection, first.length === file.size ? undefined : file);
}
