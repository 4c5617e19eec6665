// An instance of a module, which has one filter: memory for arguments, calls, and answers.

import {BloomsetError} from './error.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const BATCH_KEYS = 4096;
const BATCH_BYTES = 1 << 17;
const OUT_OF_MEMORY = 'there is not enough memory for this filter; use a smaller one, or the command line';

/** A string can be iterated over, but its letters are hardly meant. */
export function checkMany(keys) {
  if (typeof keys === 'string') throw new TypeError('a string is one key, where many are expected; give an array');
  if (keys instanceof Uint8Array || keys instanceof DataView || keys instanceof ArrayBuffer) {
    throw new TypeError('bytes are one key, where many are expected; give an array');
  }
}

/** The bytes of a key, as every program with Bloomset makes them. */
function bytesOfKey(key) {
  switch (typeof key) {
    case 'string':
      return encoder.encode(key);
    case 'number':
      if (!Number.isSafeInteger(key)) {
        throw new TypeError(`${key} is not a key: a number must be a safe integer; give a BigInt or a string`);
      }
      return bytesOfInteger(BigInt(key));
    case 'bigint':
      return bytesOfInteger(key);
    default:
      if (ArrayBuffer.isView(key)) return new Uint8Array(key.buffer, key.byteOffset, key.byteLength);
      if (key instanceof ArrayBuffer) return new Uint8Array(key);
      throw new TypeError(`${key === null ? 'null' : typeof key} is not a key: give a string, bytes or a whole number`);
  }
}

// A number is the eight little-endian bytes of its value.
function bytesOfInteger(value) {
  if (value < -(1n << 63n) || value >= 1n << 64n) {
    throw new TypeError(`${value} is not a key: a whole number must have at most 64 bits`);
  }
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, value), true);
  return bytes;
}

// UTF-8 has no bytes for half of a pair of surrogates.
const isWellFormed = typeof ''.isWellFormed === 'function' ? (text) => text.isWellFormed()
  : (text) => !/\p{Surrogate}/u.test(text);

function checkText(text) {
  if (!isWellFormed(text)) {
    throw new TypeError('a string with half a surrogate pair is not a key, because it has no UTF-8; give bytes');
  }
}

export class Instance {
  #exports;
  #memory;
  #bytes;
  #words;
  #keys;  // addresses of the arguments of a batch
  #ends;
  #answers;
  #ended;

  constructor(instance) {
    this.#exports = instance.exports;
    this.#memory = instance.exports.memory;
    this.#exports._initialize();
    this.#keys = this.alloc(BATCH_BYTES);
    this.#ends = this.alloc(4 * BATCH_KEYS);
    this.#answers = this.alloc(8 * BATCH_KEYS);
  }

  static async of(module) {
    return new Instance(await WebAssembly.instantiate(module, {}));
  }

  /** The memory as bytes. When the memory grows, a view of it becomes empty. */
  get bytes() {
    if (!this.#bytes?.length) {
      this.#bytes = new Uint8Array(this.#memory.buffer);
      this.#words = new Uint32Array(this.#memory.buffer);
    }
    return this.#bytes;
  }

  /** Calls a function of the module. A trap ends the instance: every later call fails. */
  call(name, ...values) {
    if (this.#ended) throw this.#ended;
    try {
      return this.#exports[name](...values);
    } catch (cause) {
      throw this.#end(cause);
    }
  }
  #end(cause) {
    this.#ended = new BloomsetError('out_of_memory', this.#exports.bloomset_is_out_of_memory() ? OUT_OF_MEMORY
      : `the module ended: ${cause.message}; open the filter again`, {cause});
    return this.#ended;
  }

  /** A call with a status. `name` replaces the words "the bytes" in the sentence of a failure. */
  run(name, values = [], source = 'the bytes') {
    const status = this.call(name, ...values);
    if (status === 0) return;
    const sentence = this.text();
    throw BloomsetError.of(status, sentence.startsWith('the bytes: ') ? source + sentence.slice(9) : sentence);
  }

  /** A copy of the last answer. */
  answer() {
    const at = this.call('bloomset_answer') >>> 0;
    return this.bytes.slice(at, at + (this.call('bloomset_answer_size') >>> 0));
  }
  text() {
    return decoder.decode(this.answer());
  }
  /** The last answer, JSON, in which the seed is a BigInt. */
  json() {
    const figures = JSON.parse(this.text().replace(/,"seed":(\d+),/, ',"seed":"$1",'));
    if (figures.seed !== undefined) figures.seed = BigInt(figures.seed);
    return figures;
  }

  alloc(size) {
    const at = this.call('bloomset_alloc', size) >>> 0;
    if (at === 0) throw new BloomsetError('out_of_memory', OUT_OF_MEMORY);
    return at;
  }
  free(at) {
    this.call('bloomset_free', at);
  }
  /** Memory with the bytes of a view. */
  put(view) {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    if (bytes.length > 0xffff0000) throw new BloomsetError('out_of_memory', OUT_OF_MEMORY);
    const at = this.alloc(bytes.length);
    this.bytes.set(bytes, at);
    return at;
  }
  /** Calls `use` with the address of bytes that last as long as the call; 0 for none. */
  lend(bytes, use) {
    if (bytes === undefined) return use(0);
    const at = this.put(bytes);
    try {
      return use(at);
    } finally {
      if (!this.#ended) this.free(at);
    }
  }

  // Writes a key between two addresses. Returns its end, or -1 if there is no room.
  #write(key, at, limit) {
    if (typeof key === 'string') {
      const bytes = this.bytes;
      const length = key.length;
      if (at + 3 * length <= limit) {
        let i = 0;
        if (length <= 40) {
          for (; i < length; ++i) {
            const code = key.charCodeAt(i);
            if (code >= 128) break;
            bytes[at + i] = code;
          }
          if (i === length) return at + length;
        }
        checkText(key);
        return at + encoder.encodeInto(key, bytes.subarray(at, limit)).written;
      }
      checkText(key);
    }
    const bytes = bytesOfKey(key);
    if (at + bytes.length > limit) return -1;
    this.bytes.set(bytes, at);
    return at + bytes.length;
  }

  /** Calls `use(address, size)` with the bytes of a key. */
  withKey(key, use) {
    const end = this.#write(key, this.#keys, this.#keys + BATCH_BYTES);
    if (end >= 0) return use(this.#keys, end - this.#keys);
    const bytes = bytesOfKey(key);
    return this.lend(bytes, (at) => use(at, bytes.length));
  }

  mayContain(key) {
    const end = this.#write(key, this.#keys, this.#keys + BATCH_BYTES);
    if (end < 0) return this.withKey(key, (at, size) => this.call('bloomset_may_contain', at, size)) !== 0;
    if (this.#ended) throw this.#ended;
    try {
      return this.#exports.bloomset_may_contain(this.#keys, end - this.#keys) !== 0;
    } catch (cause) {
      throw this.#end(cause);
    }
  }

  /** The answers for many keys, in the order of the keys. */
  mayContainMany(keys) {
    return this.#queryMany('bloomset_may_contain_many', keys);
  }

  /** Whether the filter has an answer, for many keys. Only the whole module has this call. */
  coversMany(keys) {
    return this.#queryMany('bloomset_covers_many', keys);
  }

  #queryMany(name, keys) {
    const all = [];
    this.inBatches(keys, (bytes, ends, count, answers) => {
      this.call(name, bytes, ends, count, answers);
      const given = this.bytes;
      for (let i = answers, end = i + count; i < end; ++i) all.push(given[i] !== 0);
    });
    return all;
  }

  /** Calls `use(bytes, ends, count, answers)` with addresses for each batch of keys. */
  inBatches(keys, use) {
    checkMany(keys);
    const batch = this.batch(use);
    for (const key of keys) batch.add(key);
    batch.end();
  }

  /** The same for keys that arrive one after the other: `add` takes one more, `end` passes the last batch on. */
  batch(use) {
    let texts = [];
    let length = 0;
    // Texts of ASCII are joined and encoded in one call, a quarter of the time of one call for each.
    const pass = () => {
      if (texts.length === 0) return;
      const all = texts;
      const joined = all.join('');
      texts = [];
      length = 0;
      const room = this.bytes.subarray(this.#keys, this.#keys + BATCH_BYTES);
      if (encoder.encodeInto(joined, room).written !== joined.length) {
        this.#passOthers(all, use);
        return;
      }
      let end = 0;
      for (let i = 0, at = this.#ends >>> 2; i < all.length; ++i) this.#words[at + i] = end += all[i].length;
      use(this.#keys, this.#ends, all.length, this.#answers);
    };
    return {
      add: (key) => {
        if (typeof key !== 'string' || key.length > 1024) {
          pass();
          this.#passOthers([key], use);
          return;
        }
        texts.push(key);
        length += key.length;
        if (texts.length === BATCH_KEYS || length > BATCH_BYTES / 4) pass();
      },
      end: pass,
    };
  }

  // Passes keys on that are not texts of ASCII.
  #passOthers(keys, use) {
    const first = this.#keys;
    const limit = first + BATCH_BYTES;
    let at = first;
    let count = 0;
    const pass = () => {
      if (count > 0) use(first, this.#ends, count, this.#answers);
      at = first;
      count = 0;
    };
    for (const key of keys) {
      let end = this.#write(key, at, limit);
      if (end < 0) {
        pass();
        end = this.#write(key, at, limit);
      }
      if (end < 0) {  // longer than a whole batch
        const bytes = bytesOfKey(key);
        this.lend(bytes, (place) => {
          this.#words[this.#ends >>> 2] = bytes.length;
          use(place, this.#ends, 1, this.#answers);
        });
        continue;
      }
      this.#words[(this.#ends >>> 2) + count++] = end - first;
      at = end;
    }
    pass();
  }

  /** The same for strings or bytes that are passed on in one call: names and values, one after the other, for example. */
  withTexts(texts, use) {
    const parts = texts.map((text) => (typeof text === 'string' ? encoder.encode(text) : text));
    const ends = new Uint32Array(parts.length);
    const size = parts.reduce((sum, part, i) => (ends[i] = sum + part.length), 0);
    const bytes = new Uint8Array(size);
    parts.forEach((part, i) => bytes.set(part, ends[i] - part.length));
    return this.lend(bytes, (at) => this.lend(new Uint8Array(ends.buffer), (to) => use(at, to, parts.length)));
  }
}
