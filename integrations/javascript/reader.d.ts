/** The small entry of the package: filters with 64-bit hashes are opened and queried. */

/** One key: a text, as its UTF-8; bytes; or a whole number, as its eight little-endian bytes. */
export type Key = string | number | bigint | ArrayBufferView | ArrayBuffer;

/** Where a filter file is: its bytes, a URL, the path of a file (in Node, Deno and Bun), a Blob or File, or a Response. */
export type Source = ArrayBufferView | ArrayBuffer | URL | string | Blob | Response;

export type ErrorCode = 'invalid_argument' | 'not_found' | 'exists' | 'corrupt' | 'unsupported' | 'incompatible' | 'full'
  | 'io' | 'out_of_memory';

/** A failure. Its message is one sentence: what was wrong, where, and what to do. */
export class BloomsetError extends Error {
  readonly code: ErrorCode;
  /** With code `full`: how many keys of the failed call the filter contains. */
  readonly contained?: number;
}

/** What the header of a filter file says. */
export interface ReaderInfo {
  kind: string;
  /** The number of keys that the filter was planned for. */
  capacity: number;
  /** The filter's count of its keys. */
  count: number;
  /** The size of its bits in bytes. */
  bytes: number;
  /** The rate of false positives at capacity. */
  planned_fpr: number;
  /** The name of the hash function. */
  hash: string;
  /** The seed, or the identifier of the secret key. */
  seed: bigint;
  labels: Record<string, string>;
  exceptions?: number;
  /** The number of layers, and of the keys that they were made of. */
  layers?: number;
  layer_keys?: number;
}

/** A filter that is queried. */
export class Reader {
  protected constructor();
  /** Whether the key may be a member. False is certain. */
  has(key: Key): boolean;
  /** The same for many keys, which is faster. */
  hasMany(keys: Iterable<Key>): boolean[];
  /** The key's hash of 64 bits with the filter's hash function and seed. */
  hash(key: Key): bigint;
  info(): ReaderInfo;
  readonly kind: string;
  readonly capacity: number;
  /** Facts that the file carries, such as the source of its keys. They change no answer. */
  readonly labels: Record<string, string>;
}

/** Opens a filter file of any kind. `key` is the secret key of a filter that was made with one. */
export function open(source: Source, options?: {key?: Uint8Array}): Promise<Reader>;

/** Hands over the compiled module, where it can be loaded neither from a file nor by fetch: `bloomset/bloomset-reader.wasm`. */
export function useModule(module: WebAssembly.Module | Promise<WebAssembly.Module>): void;
