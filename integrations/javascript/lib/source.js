// Bytes from wherever a program has them.

import {BloomsetError} from './error.js';
import {Instance} from './instance.js';

// Node, Deno and Bun have files, and node:fs to read them.
const hasFiles = Boolean(globalThis.process?.versions?.node ?? globalThis.Deno ?? globalThis.Bun);
const ADDRESS = /^[a-z][a-z0-9+.-]+:/i;

async function fileBytes(path) {
  const module = 'node:fs/promises';  // a variable, so that bundlers for browsers leave it alone
  const {readFile} = await import(module);
  return readFile(path);
}

async function responseBytes(response, name) {
  if (!response.ok) {
    throw new BloomsetError(response.status === 404 ? 'not_found' : 'io',
      `${name}: the server answered ${response.status} ${response.statusText}`.trimEnd()
      + '; give the address of a filter file');
  }
  return new Uint8Array(await response.arrayBuffer());
}

/** Whether a text or URL is that of a file on this machine. */
export function isFilePath(source) {
  const name = String(source);
  const isPath = typeof source === 'string' && !(ADDRESS.test(source) && !/^[a-z]:[\\/]/i.test(source));
  return hasFiles && (isPath || name.startsWith('file:'));
}

/** The bytes of a source, and its name for messages. */
export async function bytesOf(source) {
  if (ArrayBuffer.isView(source)) {
    return {bytes: new Uint8Array(source.buffer, source.byteOffset, source.byteLength), name: 'the bytes'};
  }
  if (source instanceof ArrayBuffer) return {bytes: new Uint8Array(source), name: 'the bytes'};
  if (typeof Blob === 'function' && source instanceof Blob) {
    return {bytes: new Uint8Array(await source.arrayBuffer()), name: source.name ?? 'the blob'};
  }
  if (typeof Response === 'function' && source instanceof Response) {
    const name = source.url || 'the response';
    return {bytes: await responseBytes(source, name), name};
  }
  if (typeof source !== 'string' && !(source instanceof URL)) {
    throw new TypeError('a filter is opened from bytes, a URL, the path of a file, a Blob or a Response');
  }
  const name = String(source);
  if (isFilePath(source)) return {bytes: await fileBytes(name.startsWith('file:') ? new URL(source) : source), name};
  return {bytes: await responseBytes(await fetch(source), name), name};
}

/** A module of this package, which is compiled for the first instance. A failure is not remembered. */
export class PackageModule {
  #url;  // a function, as some bundlers have no import.meta.url
  #compiled;

  constructor(url) {
    this.#url = url;
  }
  use(compiled) {
    this.#compiled = compiled;
  }
  async instance() {
    this.#compiled ??= compile(this.#url()).catch((error) => {
      this.#compiled = undefined;
      throw error;
    });
    return Instance.of(await this.#compiled);
  }
}

async function compile(url) {
  if (hasFiles && url.protocol === 'file:') return WebAssembly.compile(await fileBytes(url));
  const response = await fetch(url);
  if (!response.ok) {
    throw new BloomsetError('io', `${url}: the server answered ${response.status}; serve the .wasm files of the `
      + 'package beside its scripts, or hand the module to useModule()');
  }
  // Streaming needs the type application/wasm, which not every server sends.
  if (response.headers.get('content-type') === 'application/wasm') return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}
