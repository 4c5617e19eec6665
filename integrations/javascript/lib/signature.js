// Detached signatures of minisign. The rules are those of `bloomset verify --public-key` (cli/signing/minisign.cpp). WebCrypto has no
// BLAKE2b and older browsers have no Ed25519, so both are from two packages of npm, which are loaded when a signature is verified.

import {BloomsetError} from './error.js';
import {digest} from './webcrypto.js';

export const MAX_SIGNATURE = 2 ** 16;  // bytes, with the comments
const UNTRUSTED = 'untrusted comment: ';
const TRUSTED = 'trusted comment: ';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const bytesOf = (binary) => Uint8Array.from(binary, (character) => character.charCodeAt(0));

/** The lines of a text, without their ends. */
function linesOf(text) {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The bytes of padded base64, or undefined if it is malformed or has another size. */
function fromBase64(text, size) {
  if (!BASE64.test(text)) return undefined;
  const bytes = bytesOf(atob(text));
  return bytes.length === size ? bytes : undefined;
}

function joined(...pieces) {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** The identifier of a key as minisign prints it. */
const shown = (id) => Array.from(id, (byte) => byte.toString(16).padStart(2, '0')).reverse().join('').toUpperCase();

/** The public key in the text of a .pub file, or in the 56 characters of its second line. */
export function readPublicKey(text) {
  const expected = "give the text of minisign's .pub file, or the 56 characters of the key in it";
  if (typeof text !== 'string') throw new TypeError(`publicKey is not a string; ${expected}`);
  const lines = linesOf(text);
  if (lines.length === 2 && lines[0].startsWith(UNTRUSTED)) lines.shift();
  const bytes = lines.length === 1 ? fromBase64(lines[0], 42) : undefined;
  if (!bytes || bytes[0] !== 0x45 || bytes[1] !== 0x64) {  // Ed
    throw new BloomsetError('invalid_argument', `publicKey: this is not a public key of minisign; ${expected}`);
  }
  return {id: shown(bytes.subarray(2, 10)), key: bytes.subarray(10)};
}

/** The parts of a signature file. */
function readSignature(file, name) {
  const malformed = (how) => new BloomsetError('corrupt', `${name}: this is not a signature of minisign: ${how}; get the file again from `
    + 'where it was published');
  if (file.length > MAX_SIGNATURE) throw malformed('it is too long');
  // One character for each byte, because the comment need not be UTF-8 to be signed.
  const lines = linesOf(Array.from(file, (byte) => String.fromCharCode(byte)).join(''));
  if (lines.length !== 4) throw malformed('it has not four lines');
  if (!lines[0].startsWith(UNTRUSTED)) throw malformed('line 1 is not a comment');
  const first = fromBase64(lines[1], 74);
  if (!first) throw malformed('line 2 is not 74 bytes in base64');
  if (!lines[2].startsWith(TRUSTED)) throw malformed('line 3 is not a trusted comment');
  const ofBoth = fromBase64(lines[3], 64);
  if (!ofBoth) throw malformed('line 4 is not 64 bytes in base64');
  const algorithm = String.fromCharCode(first[0], first[1]);
  if (algorithm !== 'Ed' && algorithm !== 'ED') throw malformed('its algorithm is neither Ed nor ED');
  return {isHashed: algorithm === 'ED', id: shown(first.subarray(2, 10)), ofFile: first.subarray(10),
    comment: bytesOf(lines[2].slice(TRUSTED.length)), ofBoth};
}

async function loadPackages() {
  let ed25519, blake2b;
  try {  // in which bundlers accept that the packages are not there
    ed25519 = await import('@noble/ed25519');
    ({blake2b} = await import('@noble/hashes/blake2.js'));
  } catch (cause) {
    throw new BloomsetError('unsupported', 'publicKey needs the packages @noble/ed25519 and @noble/hashes, which were not found; install '
      + 'them with npm, or name them in the import map of a page without a bundler', {cause});
  }
  if (!globalThis.crypto?.subtle) {  // Node 18, where @noble/ed25519 finds no WebCrypto, and pages that may not use it
    (ed25519.hashes ?? ed25519.etc).sha512Async = (...pieces) => digest('SHA-512', joined(...pieces));
  }
  return {ed25519, blake2b};
}

/**
 * The trusted comment of a file's signature, once the signature and the comment are verified. `name` is the file's name for
 * messages.
 */
export async function verify(publicKey, file, signatureFile, name) {
  const signature = readSignature(signatureFile, `${name}.minisig`);
  if (signature.id !== publicKey.id) {
    throw new BloomsetError('corrupt', `${name}: it is signed with the key ${signature.id}, and the given key is ${publicKey.id}; do not `
      + 'use the file, or give the key of its publisher');
  }
  const {ed25519, blake2b} = await loadPackages();
  const isSigned = (of, message) => ed25519.verifyAsync(of, message, publicKey.key, {zip215: false});
  if (!await isSigned(signature.ofFile, signature.isHashed ? blake2b(file) : file)) {
    throw new BloomsetError('corrupt', `${name}: the signature is not of this file; do not use the file, and get it and its signature `
      + 'again from the publisher');
  }
  if (!await isSigned(signature.ofBoth, joined(signature.ofFile, signature.comment))) {
    throw new BloomsetError('corrupt', `${name}.minisig: the trusted comment is not the signed one; do not trust it, and get the `
      + 'signature again');
  }
  return new TextDecoder().decode(signature.comment);
}
