import {BloomsetError} from './error.js';

/** WebCrypto, which Node 18 has only as a module. */
export async function webCrypto() {
  const name = 'node:crypto';  // a variable, so that bundlers for browsers leave it alone
  return globalThis.crypto ?? (await import(name)).webcrypto;
}

/** The digest of bytes by `SHA-256` or `SHA-512`. */
export async function digest(algorithm, bytes) {
  const {subtle} = await webCrypto();
  if (!subtle) {
    throw new BloomsetError('unsupported', 'the browser has SHA-256 and SHA-512 only for pages from https or localhost; serve the page '
      + 'from there');
  }
  return new Uint8Array(await subtle.digest(algorithm, bytes));
}
