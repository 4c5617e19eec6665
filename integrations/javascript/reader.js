// The small entry: filters are opened and queried. index.js has everything.

import {Instance} from './lib/instance.js';
import {SmallReader, openIn} from './lib/filter.js';
import {compile} from './lib/source.js';

export {BloomsetError} from './lib/error.js';

/** A filter that is queried. */
export class Reader extends SmallReader {}

let module;

/** The module to use, where a program can load it neither from a file nor by fetch. */
export function useModule(compiled) {
  module = compiled;
}

/** Opens a filter file with 64-bit hashes, of any kind. */
export async function open(source, {key} = {}) {
  module ??= compile(new URL('./bloomset-reader.wasm', import.meta.url));
  const instance = await Instance.of(await module);
  await openIn(instance, source, false, key);
  return new Reader(instance);
}
