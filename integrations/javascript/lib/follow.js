// Filters that are published in a folder, and followed.

import {BloomsetError} from './error.js';
import {WholeReader, checkKey, instanceOf, openIn} from './filter.js';
import {Connection, addressOf} from './http.js';
import {MANIFEST, MAX_MANIFEST, patchesFrom, readManifest} from './manifest.js';
import {MAX_SIGNATURE, readPublicKey, verify} from './signature.js';
import {bytesOf, isFilePath} from './source.js';
import {digest} from './webcrypto.js';

const SIGNATURE = `${MANIFEST}.minisig`;
const REVALIDATED = [MANIFEST, SIGNATURE];  // the names whose files change

async function sha256(bytes) {
  return Array.from(await digest('SHA-256', bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The files of a folder, and how many of their bytes were read. */
class PublishedFolder {
  bytes = 0;

  constructor(folder, limits) {
    if (isFilePath(folder)) {
      this.#read = async (name) => (await bytesOf(this.nameOf(name))).bytes;
      this.#place = String(folder).replace(/\/?$/, '/');
    } else {
      const url = addressOf(folder);
      if (url.search || url.hash) {
        throw new TypeError(`${url.origin}${url.pathname}: the address of a folder has no query, because its files would not get it; give a `
          + 'fetch of your own that adds it');
      }
      url.pathname = url.pathname.replace(/\/?$/, '/');
      const connection = new Connection(limits);
      this.#read = (name, most) => connection.download(new URL(name, url), most, REVALIDATED.includes(name) ? 'no-cache' : 'default');
      this.#place = String(url);
    }
  }
  #read;
  #place;

  nameOf(name) {
    return this.#place + name;
  }
  async #take(name, most) {
    try {
      const bytes = await this.#read(name, most);
      this.bytes += bytes.length;
      return bytes;
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
      throw new BloomsetError('not_found', `${this.nameOf(name)}: there is no such file; give a folder that 'bloomset publish' wrote`);
    }
  }
  /** The manifest's text; with a public key also its signature and trusted comment, once they are verified. */
  async manifest(publicKey) {
    if (!publicKey) return {text: textOf(await this.#take(MANIFEST, MAX_MANIFEST))};
    for (let again = 0; ; ++again) {
      const [bytes, signature] = await Promise.all([this.#take(MANIFEST, MAX_MANIFEST), this.#signature()]);
      try {
        const trustedComment = await verify(publicKey, bytes, signature, this.nameOf(MANIFEST));
        return {text: textOf(bytes), signature, trustedComment};
      } catch (error) {
        // The publisher may have replaced the files between the two requests.
        if (error.code !== 'corrupt' || again === 1) throw error;
      }
    }
  }
  async #signature() {
    try {
      return await this.#take(SIGNATURE, MAX_SIGNATURE);
    } catch (error) {
      if (error.code !== 'not_found') throw error;
      throw new BloomsetError('not_found', `${this.nameOf(SIGNATURE)}: there is no such file, so the manifest is not signed; do not use `
        + 'the folder, and ask the publisher for the signature', {cause: error});
    }
  }
  /** A file with the size and content that the manifest names. */
  async file({file, bytes: size, sha256: expected}) {
    const bytes = await this.#take(file, size);
    await check(bytes, expected, this.nameOf(file));
    return bytes;
  }
}

const textOf = (bytes) => new TextDecoder().decode(bytes);

async function check(bytes, expected, name) {
  if (await sha256(bytes) === expected) return;
  throw new BloomsetError('corrupt', `${name}: the file is not the one that the manifest names; fetch again later, or tell the `
    + 'publisher');
}

/** A filter that is published in a folder, with what was followed last. */
export class FollowedFilter extends WholeReader {
  #folder;
  #options;
  #newInstance;
  #publicKey;
  #state;  // text and manifest, base, layers; with a public key, signature and trustedComment
  #refreshing;

  constructor(folder, options, newInstance) {
    super(undefined);
    checkKey(options.key);
    // Undefined is refused too, so that a variable that is not set does not turn the check off.
    if ('publicKey' in options) this.#publicKey = readPublicKey(options.publicKey);
    this.#folder = folder;
    this.#options = options;
    this.#newInstance = newInstance;
    new PublishedFolder(folder, options);  // refuses a wrong one now
  }

  get manifest() {
    return structuredClone(this.#state.manifest);
  }
  get sequence() {
    return this.#state.manifest.sequence;
  }
  get validUntil() {
    const time = this.#state.manifest.valid_until;
    return time === undefined ? undefined : new Date(time);
  }
  /** The text that the publisher signed with the manifest; undefined without a public key. */
  get trustedComment() {
    return this.#state.trustedComment;
  }
  /** What restore() needs: the files as they were published. */
  save() {
    const {text, signature, base, layers} = this.#state;
    return {manifest: text, ...(signature && {signature}), base, layers};
  }

  /** Becomes what save() returned. */
  async restore({manifest: text, signature, base, layers}) {
    const signed = this.#publicKey ? await this.#verifySaved(text, signature) : {};
    const manifest = readManifest(text, 'the saved manifest');
    await check(base, manifest.base.sha256, 'the saved base');
    if (layers.length !== manifest.layers.length) {
      throw new BloomsetError('corrupt', 'the saved layers are not those of the saved manifest; follow the folder without them');
    }
    for (const [i, layer] of layers.entries()) await check(layer, manifest.layers[i].sha256, `the saved layer ${i}`);
    await this.#become({text, manifest, ...signed, base, layers}, 'the saved manifest');
  }
  async #verifySaved(text, signature) {
    if (signature === undefined) {
      throw new BloomsetError('incompatible', 'the saved manifest has no signature, because it was followed without a public key; follow '
        + 'the folder without what was saved');
    }
    return {signature, trustedComment: await verify(this.#publicKey, new TextEncoder().encode(text), signature, 'the saved manifest')};
  }

  /** Reads the folder, and becomes what it has now. Calls that overlap are one. */
  refresh() {
    this.#refreshing ??= this.#follow().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #follow() {
    for (let again = 0; ; ++again) {
      const from = new PublishedFolder(this.#folder, this.#options);
      try {
        return await this.#followOnce(from);
      } catch (error) {
        // A publisher may have replaced the files of a manifest that was just read.
        if (error.code !== 'not_found' || again === 2) throw error;
      }
    }
  }

  async #followOnce(from) {
    const last = this.#state;
    const {text, ...signed} = await from.manifest(this.#publicKey);
    const name = from.nameOf(MANIFEST);
    const manifest = readManifest(text, name);
    // A date that is none, such as of a 13th month, is over.
    if (manifest.valid_until !== undefined && !(Date.parse(manifest.valid_until) >= Date.now())) {
      throw new BloomsetError('incompatible', `${name}: it was valid until ${manifest.valid_until}; fetch again when there is a new one`);
    }
    if (last && manifest.sequence < last.manifest.sequence) {
      throw new BloomsetError('incompatible', `${name}: it has the number ${manifest.sequence}, but ${last.manifest.sequence} was here `
        + 'already; an old publication is shown again, so nothing was changed. If the publisher began anew, follow it anew');
    }
    if (last && manifest.sequence === last.manifest.sequence && text !== last.text) {
      throw new BloomsetError('incompatible', `${name}: it has the number ${manifest.sequence} of the one that was here, but other `
        + 'content; nothing was changed. If the publisher began anew, follow it anew');
    }
    const did = {changed: false, sequence: manifest.sequence, whole: false, patches: 0, layers: 0, bytes: 0};
    if (text !== last?.text) {
      const base = await this.#baseOf(from, manifest, did);
      const known = new Map(last?.manifest.layers.map((layer, i) => [layer.sha256, last.layers[i]]));
      const layers = [];
      for (const layer of manifest.layers) {
        if (!known.has(layer.sha256)) ++did.layers;
        layers.push(known.get(layer.sha256) ?? await from.file(layer));
      }
      await this.#become({text, manifest, ...signed, base, layers}, name);
      did.changed = did.whole || did.patches > 0 || did.layers > 0 || layers.length !== last.layers.length;
    } else {
      this.#state = {...last, ...signed};  // the same manifest may be signed again
    }
    did.bytes = from.bytes;
    return did;
  }

  // The base of the manifest: the present one, that one with patches, or the whole file.
  async #baseOf(from, manifest, did) {
    const last = this.#state;
    if (last?.manifest.base.sha256 === manifest.base.sha256) return last.base;
    const patches = last ? patchesFrom(manifest, last.manifest.base.sha256) : [];
    if (patches.length === 0 || patches.reduce((sum, patch) => sum + patch.bytes, 0) >= manifest.base.bytes) {
      did.whole = true;
      return from.file(manifest.base);
    }
    let base = last.base;
    for (const patch of patches) {
      const bytes = await from.file(patch);
      const instance = await this.#newInstance();
      instance.lend(base, (at) => instance.lend(bytes, (change) => {
        instance.run('bloomset_apply_patch', [at, base.length, change, bytes.length], from.nameOf(patch.file));
      }));
      base = instance.answer();
      ++did.patches;
    }
    if (await sha256(base) === manifest.base.sha256) return base;
    throw new BloomsetError('corrupt', `${from.nameOf(MANIFEST)}: its patches do not make its base; tell the publisher`);
  }

  // Opens the filter in an instance of its own, and only then replaces the one before.
  async #become(state, name) {
    let file = state.base;
    if (state.layers.length > 0) {
      const joining = await this.#newInstance();
      joining.lend(file, (at) => joining.withTexts(state.layers, (...list) => {
        joining.run('bloomset_join_layers', [at, file.length, ...list], name);
      }));
      file = joining.answer();
    }
    const instance = await this.#newInstance();
    await openIn(instance, file, false, this.#options.key, name);
    this.#state = state;
    this[instanceOf] = instance;
  }
}
