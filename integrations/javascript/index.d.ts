import type {Key, ReaderInfo, Source} from './reader.js';
import {Reader} from './reader.js';
import type {Limits} from './remote.js';

export {BloomsetError} from './reader.js';
export type {ErrorCode, Key, Source} from './reader.js';
export type {Limits} from './remote.js';

export type Kind = 'blocked_bloom' | 'bloom' | 'counting_bloom' | 'vector_quotient' | 'cuckoo' | 'expandable'
  | 'scalable_bloom' | 'fuse' | 'ribbon' | 'exact';

/** The figures of `bloomset info --json`. */
export interface Info extends ReaderInfo {
  bits: number;
  /** Distinct keys, estimated from the bits; null if they are too full. */
  estimated_size: number | null;
  bits_per_key: number;
  /** The number of hash functions, of kinds that have one. */
  hashes?: number;
  /** The rate that 95 of 100 such filters do not exceed. */
  fpr_95: number;
  hash_bits: 64 | 128;
  /** The rate of the bits as they stand. */
  current_fpr: number;
  /** Whether the filter has more keys than it was planned for. */
  overfilled: boolean;
  fill: number;
  can: string[];
  /** Figures that only this kind has. */
  extras: Record<string, unknown>;
}

/** A count, also as text: 1000000, "10M". */
export type Count = number | bigint | string;
/** A rate, also as text: 0.01, "1%", "1/1000". */
export type Rate = number | string;

/** Two of capacity, fpr and memory (in bytes) or bits give the third. The default rate is 1%. */
export interface Request {
  kind?: Kind;
  capacity?: Count;
  fpr?: Rate;
  memory?: Count;
  bits?: Count;
  hashes?: number;
  /** Makes filters differ. It is not a secret. */
  seed?: number | bigint;
  /** A secret key, 16 bytes of `newKey()`: only those who know it can choose keys that pass as members. */
  key?: Uint8Array;
  /** "xxh3-2x64" or "siphash-2x64" requests 128-bit hashes. */
  hash?: string;
  labels?: Record<string, string>;
  /** A kind's own options, which `kinds()` lists. */
  [option: string]: unknown;
}

/** A request for a plan: what the filter must be able to do, besides the figures. */
export interface PlanRequest extends Request {
  deletable?: boolean;
  counting?: boolean;
  growing?: boolean;
  static?: boolean;
}

export interface Plan {
  kind: Kind;
  capacity: number;
  bits: number;
  bytes: number;
  hashes?: number;
  bits_per_key: number;
  planned_fpr: number;
  fpr_95: number;
  hash_bits: 64 | 128;
  extras: Record<string, unknown>;
  /** The bits per key that any filter of this rate needs at least. */
  information_bound: number;
  /** Why this kind is recommended, if none was named. */
  reason?: string;
  /** All kinds that fit, the best first. */
  ranked?: Plan[];
  /** The other kinds, and why they do not fit. */
  refused?: Record<string, string>;
}

export interface KindInfo {
  summary: string;
  strengths: string;
  can: string[];
  /** Built once from all its keys. */
  built_once: boolean;
  /** Built once from members and all other keys. */
  of_two_sets: boolean;
  options: Record<string, string>;
}

/** A filter that is queried. It may have 128-bit hashes or partitions, which `bloomset/reader` refuses. */
declare class WholeReader extends Reader {
  /** Whether the key may be a member. False is certain, except for keys without an answer: see covers(). */
  has(key: Key): boolean;
  /**
   * Whether the filter has an answer for the key. False only in a filter of kind `exact` with partitions, for a key whose
   * partition it does not have: the bytes of the key before its first tab. has() is then false and means nothing.
   */
  covers(key: Key): boolean;
  /** The same for many keys. */
  coversMany(keys: Iterable<Key>): boolean[];
  info(): Info;
}

/** A filter of any kind. What its kind cannot do throws a BloomsetError with code `unsupported`. */
export class Filter extends WholeReader {
  labels: Record<string, string>;
  /** Adds a key; true if it certainly was not there before. */
  add(key: Key): boolean;
  /** Adds many keys; returns how many were certainly new. */
  addMany(keys: Iterable<Key>): number;
  /** Takes back one add of a key; false if it certainly is not a member. Delete only keys that were added. */
  delete(key: Key): boolean;
  /** Deletes many keys; returns how many were there. */
  deleteMany(keys: Iterable<Key>): number;
  /** How often the key was added and not deleted: never too low, up to what the kind can count. */
  count(key: Key): number;
  countMany(keys: Iterable<Key>): number[];
  /** Removes all keys. The plan stays. */
  clear(): void;
  /** Makes the answer "no" for keys that are not members but pass as members; returns how many are new exceptions. */
  addExceptions(keys: Iterable<Key>): number;
  removeExceptions(keys: Iterable<Key>): number;
  /** The union with another filter, in place. `key` is the secret key of the other. */
  merge(other: Filter, options?: {key?: Uint8Array}): void;
  /** Keeps the keys that both filters may contain. */
  intersect(other: Filter, options?: {key?: Uint8Array}): void;
  /** Replaces the count of keys by the one that the bits show, as the command line does before it writes a file. */
  settleCount(): void;
  /** The bytes of the filter's file. */
  toBytes(): Uint8Array;
}

/** Opens a filter file of any kind. With `writable` it can be changed. `key` is the secret key of a filter that was made with one. */
export function open(source: Source, options?: {writable?: boolean; key?: Uint8Array}): Promise<Filter>;
/** A file that a manifest names. */
export interface PublishedFile {
  file: string;
  bytes: number;
  sha256: string;
}

/** The manifest of a published folder. */
export interface Manifest {
  format: string;
  sequence: number;
  published: string;
  valid_until?: string;
  max_fpr: number;
  labels: Record<string, string>;
  base: PublishedFile;
  patches: (PublishedFile & {from: string})[];
  layers: (PublishedFile & {keys: number})[];
}

/** What a followed filter needs to continue where it was. It can be stored in IndexedDB, for example. */
export interface Saved {
  manifest: string;
  /** The manifest's signature, if a public key was given. */
  signature?: Uint8Array;
  base: Uint8Array;
  layers: Uint8Array[];
}

/** What a refresh did. */
export interface Refreshed {
  /** Whether the filter is another one now. */
  changed: boolean;
  sequence: number;
  /** Whether the whole filter was read. */
  whole: boolean;
  /** The numbers of patches and of layers that were read. */
  patches: number;
  layers: number;
  /** The bytes that were read, with the manifest. */
  bytes: number;
}

/** A filter that is published in a folder. It keeps the files, so it needs twice the memory of the filter. */
export class FollowedFilter extends WholeReader {
  /**
   * Reads what the folder has new, and answers with it from then on. Every file is checked by the SHA-256 in the manifest.
   * After a failure nothing is changed. An older publication than the present one is refused.
   */
  refresh(): Promise<Refreshed>;
  readonly manifest: Manifest;
  /** The number of the publication. */
  readonly sequence: number;
  /** When the publication ends, if the publisher says so. Only refresh() checks it. */
  readonly validUntil: Date | undefined;
  /** The comment that is signed with the manifest. It is undefined if no public key was given. */
  readonly trustedComment: string | undefined;
  save(): Saved;
}

/**
 * Follows a filter that `bloomset publish` wrote to a folder: its URL, or its path in Node, Deno and Bun. With `saved`, it
 * begins with what save() returned, and reads nothing before refresh().
 *
 * With `publicKey`, each manifest must have a signature of that key beside it, `manifest.json.minisig`, which is verified before
 * the manifest is read. It is the text of minisign's .pub file, or the 56 characters of the key in it; a `publicKey` that is
 * undefined throws a TypeError. It needs the packages `@noble/ed25519` and `@noble/hashes`.
 */
export function follow(folder: string | URL,
  options?: Limits & {saved?: Saved; key?: Uint8Array; publicKey?: string}): Promise<FollowedFilter>;
/** The figures of the filter in a file, which needs no secret key. */
export function info(source: Source): Promise<Info>;
/** An empty filter, to add keys to. */
export function create(request?: Request): Promise<Filter>;
/** A filter of these keys, planned for their number unless the request has a capacity or a size. */
export function build(keys: Iterable<Key> | AsyncIterable<Key>,
  request?: Request & {others?: Iterable<Key> | AsyncIterable<Key>}): Promise<Filter>;
/** Plans a filter without making it. Without a kind, all kinds that have what is needed are compared. */
export function plan(request: PlanRequest): Promise<Plan>;
/** What is known of each kind, by its name. */
export function kinds(): Promise<Record<Kind, KindInfo>>;
/** A secret key of 16 random bytes. */
export function newKey(): Promise<Uint8Array>;
/** Hands over the compiled module, where it can be loaded neither from a file nor by fetch: `bloomset/bloomset.wasm`. */
export function useModule(module: WebAssembly.Module | Promise<WebAssembly.Module>): void;
