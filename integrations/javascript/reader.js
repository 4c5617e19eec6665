// The small entry: filters are opened and queried. index.js has everything.

import {SmallReader, openIn} from './lib/filter.js';
import {PackageModule} from './lib/source.js';

export {BloomsetError} from './lib/error.js';

/** A filter that is queried. */
export class Reader extends SmallReader {}

const module = new PackageModule(() => new URL('./bloomset-reader.wasm', import.meta.url));

/** The module to use, where a program can load it neither from a file nor by fetch. */
export function useModule(compiled) {
  module.use(compiled);
}

/** Opens a filter file with 64-bit hashes, of any kind. */
export async function open(source, {key} = {}) {
  const instance = await module.instance();
  await openIn(instance, source, false, key);
  return new Reader(instance);
}
