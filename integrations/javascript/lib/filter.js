// What a program does with a filter.

import {bytesOf} from './source.js';

export const instanceOf = Symbol('instance');

/** A filter that is queried. */
export class Reader {
  constructor(instance) {
    Object.defineProperty(this, instanceOf, {value: instance, writable: true});
  }

  has(key) {
    return this[instanceOf].mayContain(key);
  }
  hasMany(keys) {
    return this[instanceOf].mayContainMany(keys);
  }
  hash(key) {
    const instance = this[instanceOf];
    return instance.withKey(key, (at, size) => BigInt.asUintN(64, instance.call('bloomset_hash', at, size)));
  }
  info() {
    const instance = this[instanceOf];
    instance.run('bloomset_info');
    return instance.json();
  }
  get kind() {
    return this.info().kind;
  }
  get capacity() {
    return this.info().capacity;
  }
  get labels() {
    return this.info().labels;
  }
}

/** The same in a small module, which has the rate apart. */
export class SmallReader extends Reader {
  info() {
    return {...super.info(), planned_fpr: this[instanceOf].call('bloomset_planned_fpr')};
  }
}

/** The same in the whole module, which also opens filters with partitions. */
export class WholeReader extends Reader {
  covers(key) {
    return this.coversMany([key])[0];
  }
  coversMany(keys) {
    return this[instanceOf].coversMany(keys);
  }
}

/** A filter that is changed, too, as far as its kind can. */
export class Filter extends WholeReader {
  #change(name, keys) {
    const instance = this[instanceOf];
    let changed = 0;
    let done = 0;
    instance.inBatches(keys, (bytes, ends, count) => {
      try {
        instance.run(name, [bytes, ends, count]);
      } catch (error) {
        if (error.code === 'full') error.contained = done + Number(instance.call('bloomset_number'));
        throw error;
      }
      changed += Number(instance.call('bloomset_number'));
      done += count;
    });
    return changed;
  }

  add(key) {
    return this.#change('bloomset_insert', [key]) !== 0;
  }
  addMany(keys) {
    return this.#change('bloomset_insert', keys);
  }
  delete(key) {
    return this.#change('bloomset_erase', [key]) !== 0;
  }
  deleteMany(keys) {
    return this.#change('bloomset_erase', keys);
  }
  count(key) {
    return this.countMany([key])[0];
  }
  countMany(keys) {
    const instance = this[instanceOf];
    const all = [];
    instance.inBatches(keys, (bytes, ends, count, answers) => {
      instance.run('bloomset_count', [bytes, ends, count, answers]);
      const counts = new BigUint64Array(instance.bytes.buffer, answers, count);
      for (const each of counts) all.push(Number(each));
    });
    return all;
  }
  addExceptions(keys) {
    return this.#change('bloomset_add_exceptions', keys);
  }
  removeExceptions(keys) {
    return this.#change('bloomset_remove_exceptions', keys);
  }
  clear() {
    this[instanceOf].run('bloomset_clear');
  }
  settleCount() {
    this[instanceOf].call('bloomset_settle_count');
  }

  #combine(name, other, key) {
    checkKey(key);
    const instance = this[instanceOf];
    const bytes = other.toBytes();
    instance.lend(bytes, (at) => instance.lend(key, (secret) => {
      instance.run(name, [at, bytes.length, secret], 'the other filter');
    }));
  }
  merge(other, {key} = {}) {
    this.#combine('bloomset_merge', other, key);
  }
  intersect(other, {key} = {}) {
    this.#combine('bloomset_intersect', other, key);
  }

  get labels() {
    return super.labels;
  }
  set labels(labels) {
    const instance = this[instanceOf];
    instance.withTexts(Object.entries(labels).flat().map(String), (...pairs) => instance.run('bloomset_set_labels', pairs));
  }

  toBytes() {
    const instance = this[instanceOf];
    instance.run('bloomset_to_bytes');
    const bytes = instance.answer();
    instance.call('bloomset_forget_answer');
    return bytes;
  }
}

/** Opens the filter in a source in an instance: for both entries of the package. */
export async function openIn(instance, source, writable, key, shown) {
  checkKey(key);
  const {bytes, name: own} = await bytesOf(source);
  const name = shown ?? own;
  const at = instance.put(bytes);
  instance.lend(key, (secret) => instance.run('bloomset_open', [at, bytes.length, writable ? 1 : 0, secret], name));
  if (writable) instance.free(at);  // it has its own memory
}

export function checkKey(key) {
  if (key === undefined || (ArrayBuffer.isView(key) && key.byteLength === 16)) return;
  throw new TypeError('a secret key has 16 bytes; newKey() makes one');
}
