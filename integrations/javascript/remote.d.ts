import type {Key, ReaderInfo} from './reader.js';

export {BloomsetError} from './reader.js';
export type {ErrorCode, Key, ReaderInfo} from './reader.js';

/** The limits of reading from a server. */
export interface Limits {
  /** The most bytes that answers may have, all together. Default: 64 MiB. */
  maxBytes?: number;
  /** Seconds in which a server sends nothing, after which it is given up. Default: 20. */
  timeout?: number;
  /** Ends all requests. */
  signal?: AbortSignal;
  /** Used in place of the global fetch, for example to send a password. */
  fetch?: typeof fetch;
}

/** A filter on a web server, of which only the bytes that queries need are read. */
export class RemoteFilter {
  private constructor();
  /** Whether the key may be a member. False is certain. */
  has(key: Key): Promise<boolean>;
  /** The same for many keys, which share requests. */
  hasMany(keys: Iterable<Key>): Promise<boolean[]>;
  /** The key's hash of 64 bits with the filter's hash function and seed. */
  hash(key: Key): bigint;
  info(): ReaderInfo;
  readonly kind: string;
  readonly capacity: number;
  readonly labels: Record<string, string>;
  /** What was read until now: requests, and bytes of answers without headers. */
  readonly traffic: {requests: number; bytes: number};
}

/**
 * Opens a filter where it is on a web server, without downloading it. If the server sends no ranges, the whole file is
 * read. A file that changes meanwhile is an error with the code `incompatible`. The checksum of the header is checked; that
 * of the filter's bits cannot be, except if the whole file is read.
 */
export function openRemote(address: string | URL, options?: Limits & {key?: Uint8Array}): Promise<RemoteFilter>;

/** Hands over the compiled module, where it can be loaded neither from a file nor by fetch: `bloomset/bloomset-remote.wasm`. */
export function useModule(module: WebAssembly.Module | Promise<WebAssembly.Module>): void;
