// Files on web servers: read in ranges, or as a whole. The rules are those of `bloomset check URL`.

import {BloomsetError} from './error.js';

const TRIES = 4;
const TRANSIENT = new Set([408, 429, 500, 502, 503, 504]);
// Between two ranges, so many bytes cost less than the headers of a part of an answer.
const NEAR_BYTES = 128;
const ANSWER_BYTES = 256;  // of a part's headers, generously
const MAX_PARTS = 64;
const MAX_PARTED_BYTES = 1 << 20;
const AT_ONCE = 6;  // requests of one range each
const MAX_DELAY = 2 ** 31 - 1;  // milliseconds of a timer

const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** The address as a URL. In a page it may be relative. */
export function addressOf(source) {
  let url;
  try {
    url = new URL(source, globalThis.document?.baseURI ?? globalThis.location?.href);
  } catch {
    throw new TypeError(`'${source}' is not the address of a file on a server; give a URL`);
  }
  if (!/^https?:$/.test(url.protocol)) {
    throw new TypeError(`${url}: only http and https have ranges; open() reads other files`);
  }
  if (url.username || url.password) {
    throw new TypeError('a URL with a password is not read; give a fetch of your own that sends it');
  }
  return url;
}

/** All requests for one purpose, which share a limit of bytes. */
export class Connection {
  requests = 0;
  received = 0;  // bytes of answers, without headers
  #fetch;
  #timeout;
  #signal;

  constructor({maxBytes = 2 ** 26, timeout = 20, signal, fetch} = {}) {
    if (!(maxBytes > 0)) throw new TypeError('maxBytes is a number of bytes above 0');
    if (!(timeout > 0)) throw new TypeError('timeout is a number of seconds above 0');
    this.maxBytes = maxBytes;
    this.#timeout = timeout;
    this.#signal = signal;
    this.#fetch = fetch ?? globalThis.fetch;
  }

  /**
   * The answer to a request: status, headers and bytes. `begin()` returns the Range header, or "", and is called before each
   * try; if it returns undefined, nothing is left to request, and there is no answer. `take(response, chunk)` receives the body of an answer that `accepts`; what it throws is final.
   */
  async get(url, cache, accepts, begin, take) {
    for (let tries = 1; ; ++tries) {
      let why;
      const range = begin();
      if (range === undefined) return undefined;
      try {
        const response = await this.#send(url, cache, range, accepts, take);
        if (accepts(response.status)) return response;
        why = failureOfStatus(url, response.status);
        if (!TRANSIENT.has(response.status)) throw why;
      } catch (error) {
        if (error instanceof BloomsetError) throw error;
        if (this.#signal?.aborted) throw this.#signal.reason;
        why = new BloomsetError('io', `${url}: the transfer failed: ${error.cause?.message || error.message}; check the address, `
          + 'or try again later', {cause: error});
      }
      if (tries === TRIES) {
        why.message += ` (tried ${TRIES} times)`;
        throw why;
      }
      await sleep(125 << tries);
    }
  }

  async #send(url, cache, range, accepts, take) {
    const control = new AbortController();
    const abort = () => control.abort(this.#signal.reason);
    this.#signal?.throwIfAborted();
    this.#signal?.addEventListener('abort', abort);
    let timer;
    // A server that sends nothing for so long has ended.
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => control.abort(new Error(`the server sends nothing for ${this.#timeout} s`)),
        Math.min(1000 * this.#timeout, MAX_DELAY));
    };
    try {
      wait();
      ++this.requests;
      // Only browsers have a cache, which must not mix ranges of two versions of a file.
      const options = globalThis.document || globalThis.WorkerGlobalScope ? {cache} : {};
      const response = await this.#fetch.call(globalThis, url,
        {...options, headers: range ? {Range: range} : {}, signal: control.signal});
      if (!accepts(response.status)) {
        await response.body?.cancel();
        return response;
      }
      if (url.protocol === 'https:' && response.url && !response.url.startsWith('https:')) {
        control.abort();
        throw new BloomsetError('io', `${url}: it leads to ${response.url}, which is not encrypted; give that address yourself`);
      }
      const packed = response.headers.get('content-encoding');
      if (range && packed && packed !== 'identity') {
        control.abort();
        throw new BloomsetError('unsupported', `${url}: the server sends the file packed as ${packed}, so that ranges are not those `
          + 'of the filter; download it');
      }
      const body = response.body?.getReader();
      for (;;) {
        const {value, done} = body ? await body.read() : {done: true};
        if (done) return response;
        wait();
        this.received += value.length;
        try {
          take(response, value);
          if (this.received > this.maxBytes) throw this.tooManyBytes(url);
        } catch (error) {
          control.abort();
          throw error;
        }
      }
    } finally {
      clearTimeout(timer);
      this.#signal?.removeEventListener('abort', abort);
    }
  }

  tooManyBytes(url) {
    return new BloomsetError('unsupported', `${url}: the answers need more than ${this.maxBytes} bytes; give a larger maxBytes, or `
      + 'download the file');
  }

  /** The file, at most `most` bytes. After a failure it continues at the byte where it ended. */
  async download(url, most, cache = 'default') {
    let chunks = [];
    let have = 0;
    let skip = 0;  // bytes of this answer that are there already
    let isFirst = true;
    let version;  // of the first answer
    const changed = () => new BloomsetError('incompatible', `${url}: the file on the server has changed meanwhile; fetch it again`);
    const response = await this.get(url, cache, (status) => status === 200 || (have > 0 && (status === 206 || status === 416)), () => {
      isFirst = true;
      return have > 0 ? `bytes=${have}-` : '';
    }, (response, chunk) => {
      if (response.status === 416) return;
      if (isFirst) {
        isFirst = false;
        skip = response.status === 200 ? have : 0;
        const now = response.headers.get('etag') ?? response.headers.get('last-modified');
        version ??= now;
        const begin = parseContentRange(response.headers.get('content-range'))?.begin ?? have;
        if (have > 0 && (version !== now || (response.status === 206 && begin !== have))) throw changed();
      }
      const skipped = Math.min(skip, chunk.length);
      skip -= skipped;
      if (skipped === chunk.length) return;
      have += chunk.length - skipped;
      if (have > most) throw new BloomsetError('corrupt', `${url}: the file has more than the ${most} bytes that it may have`);
      chunks.push(chunk.subarray(skipped));
    });
    // The connection broke behind the last byte.
    if (response.status === 416 && response.headers.get('content-range') !== `bytes */${have}`) throw failureOfStatus(url, 416);
    return joined(chunks, have);
  }
}

function joined(chunks, size) {
  if (chunks.length === 1) return chunks[0];
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function failureOfStatus(url, status) {
  if (status === 404 || status === 410) {
    return new BloomsetError('not_found', `${url}: the server has no such file (status ${status}); check the address`);
  }
  if (status === 401 || status === 403) {
    return new BloomsetError('io', `${url}: the server refuses access (status ${status}); check the address, and whether it needs a `
      + 'password');
  }
  if (status === 416) {
    return new BloomsetError('corrupt', `${url}: the server has no bytes of the file to send (status 416); it may be empty`);
  }
  return new BloomsetError('io', `${url}: the server answers with status ${status}; check the address, or try again later`);
}

/** The value of a Content-Range header, or undefined: bytes [begin, end) of `size`. */
export function parseContentRange(text) {
  const found = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(text ?? '');
  if (!found) return undefined;
  const [first, last, size] = found.slice(1).map(Number);
  return first <= last && last < size ? {begin: first, end: last + 1, size} : undefined;
}

/** Calls `use(range, bytes)` for each part of a multipart/byteranges body; false if it is malformed. */
export function readParts(body, boundary, use) {
  const latin = new TextDecoder('latin1');
  const startsWith = (at, text) => latin.decode(body.subarray(at, at + text.length)) === text;
  let at = startsWith(0, '\r\n') ? 2 : 0;
  for (;;) {
    if (!startsWith(at, `--${boundary}`)) return false;
    at += 2 + boundary.length;
    if (startsWith(at, '--')) return true;
    if (!startsWith(at, '\r\n')) return false;
    const headers = latin.decode(body.subarray(at, at + 1024));
    const end = headers.indexOf('\r\n\r\n');
    const range = end < 0 ? undefined : parseContentRange(/\r\ncontent-range:[ \t]*([^\r]*)/i.exec(headers.slice(0, end))?.[1]);
    if (!range) return false;
    at += end + 4;
    const next = at + range.end - range.begin;
    if (!startsWith(next, '\r\n')) return false;
    use(range, body.subarray(at, next));
    at = next + 2;
  }
}

function boundaryOf(type) {
  const found = /^multipart\/byteranges\s*;(?:.*;)?\s*boundary=(?:"([^"]*)"|([^\s;]+))/i.exec(type ?? '');
  return found?.[1] ?? found?.[2] ?? '';
}

/** Ranges [begin, end) in ascending order; those that are near each other are one. */
export function joinNear(ranges, gap) {
  const all = [];
  for (const [begin, end] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last && begin - last[1] <= gap) last[1] = Math.max(last[1], end);
    else all.push([begin, end]);
  }
  return all;
}

/** A file on a server of which ranges are read. */
export class RangedFile {
  #connection;
  #version;  // size, ETag and time of the first answer
  #hasParts;

  constructor(url, connection) {
    this.url = url;
    this.#connection = connection;
    // In a page, another site is first asked whether it allows a request of several ranges.
    this.#hasParts = !globalThis.location || globalThis.location.origin === url.origin;
  }

  get size() {
    return this.#version.size;
  }

  #failure(code, text) {
    return new BloomsetError(code, `${this.url}: ${text}`);
  }
  #changed() {
    return this.#failure('incompatible', 'the file on the server has changed meanwhile; open it again');
  }
  #versionOf(response, size) {
    return {size, etag: response.headers.get('etag'), modified: response.headers.get('last-modified')};
  }
  #agrees(now) {
    const {size, etag, modified} = this.#version;
    if (size !== now.size) return false;
    if (etag && now.etag) return etag === now.etag;
    return !modified || !now.modified || modified === now.modified;
  }

  // The range of an answer, which begins where it was requested to.
  #rangeOf(response, begin, end) {
    const text = response.headers.get('content-range');
    const range = parseContentRange(text);
    if (text === null && globalThis.location && globalThis.location.origin !== this.url.origin) {
      throw this.#failure('unsupported', 'the server does not show Content-Range to pages of other sites; let it send '
        + 'Access-Control-Expose-Headers: Content-Range, ETag');
    }
    if (range && this.#version && !this.#agrees(this.#versionOf(response, range.size))) throw this.#changed();
    if (!range || range.begin !== begin || range.end !== Math.min(end, range.size)) {
      throw this.#failure('corrupt', `the server sent '${text ?? 'no Content-Range'}' where bytes ${begin}-${end - 1} were requested; `
        + 'the server or a proxy does not know ranges, so download the file');
    }
    return range;
  }
  #more() {
    return this.#failure('corrupt', 'the server sent more bytes than it had announced; download the file another way');
  }
  #fewer() {
    return this.#failure('corrupt', 'the server sent fewer bytes than it had announced; download the file another way');
  }

  /** The first bytes of the file, or all of it if the server does not send ranges. */
  async begin(first) {
    let chunks, size, range;
    const response = await this.#connection.get(this.url, 'no-store', isPartOrWhole, () => {
      chunks = [];
      size = 0;
      range = undefined;
      return `bytes=0-${first - 1}`;
    }, (answer, chunk) => {
      if (answer.status === 200 && Number(answer.headers.get('content-length')) > this.#connection.maxBytes) {
        throw this.#failure('unsupported', 'the server sends only the whole file, which has more than '
          + `${this.#connection.maxBytes} bytes; give a larger maxBytes, or download the file`);
      }
      if (answer.status === 206) range ??= this.#rangeOf(answer, 0, first);
      size += chunk.length;
      if (range && size > range.end) throw this.#more();
      chunks.push(chunk);
    });
    if (response.status === 206) {
      range ??= this.#rangeOf(response, 0, first);
      if (size < range.end) throw this.#fewer();
    }
    this.#version = this.#versionOf(response, range?.size ?? size);
    return joined(chunks, size);
  }

  /** Reads ranges [begin, end), sorted and apart, and calls `use(at, bytes)` for each or for more than it. */
  async read(ranges, use) {
    const all = joinNear(ranges, NEAR_BYTES);
    for (let at = 0; at < all.length;) {
      const now = [];
      let bytes = 0;
      while (at < all.length && now.length < MAX_PARTS
             && (now.length === 0 || bytes + all[at][1] - all[at][0] <= MAX_PARTED_BYTES)) {
        bytes += all[at][1] - all[at][0];
        now.push(all[at++]);
      }
      const inParts = now.length > 1 && this.#hasParts;
      if (this.#connection.received + bytes + (inParts ? now.length * ANSWER_BYTES : 0) > this.#connection.maxBytes) {
        throw this.#connection.tooManyBytes(this.url);
      }
      if (inParts && (this.#hasParts = await this.#readParts(now, use))) continue;
      for (let i = 0; i < now.length; i += AT_ONCE) {
        await Promise.all(now.slice(i, i + AT_ONCE).map((range) => this.#readOne(range, use)));
      }
    }
  }

  // One range. After a transient failure the rest of it is requested.
  async #readOne([begin, end], use) {
    let range;
    const response = await this.#connection.get(this.url, 'no-store', isPartOrWhole, () => {
      range = undefined;
      return begin < end ? `bytes=${begin}-${end - 1}` : undefined;
    }, (answer, chunk) => {
      if (answer.status === 200) throw this.#wholeOrChanged(answer);
      range ??= this.#rangeOf(answer, begin, end);
      if (chunk.length > end - begin) throw this.#more();
      use(begin, chunk);
      begin += chunk.length;
    });
    if (begin === end) return;
    throw response.status === 200 ? this.#wholeOrChanged(response) : this.#fewer();
  }
  #wholeOrChanged(answer) {
    const length = answer.headers.get('content-length');
    if (!this.#agrees(this.#versionOf(answer, length === null ? this.size : Number(length)))) return this.#changed();
    return this.#failure('unsupported', 'the server sent a part of the file first and the whole file later; download it');
  }

  // Several ranges by one request. False if the server does not send them.
  async #readParts(wanted, use) {
    let most = 1024;
    for (const [begin, end] of wanted) most += end - begin + 1024;
    let chunks, size;
    const refused = {};
    let response;
    try {
      response = await this.#connection.get(this.url, 'no-store', (status) => [200, 206, 400, 416].includes(status), () => {
        chunks = [];
        size = 0;
        return `bytes=${wanted.map(([begin, end]) => `${begin}-${end - 1}`).join()}`;
      }, (answer, chunk) => {
        // The rest of a whole file is not read.
        if (answer.status !== 206) throw Object.assign(new BloomsetError('unsupported', ''), {refused});
        size += chunk.length;
        if (size > most) throw this.#more();
        chunks.push(chunk);
      });
    } catch (error) {
      if (error.refused === refused) return false;
      throw error;
    }
    const boundary = boundaryOf(response.headers.get('content-type'));
    // A server may send one range of several, or one that has them all.
    if (response.status !== 206 || !boundary) return false;
    const found = new Set();
    const isWell = readParts(joined(chunks, size), boundary, (part, bytes) => {
      if (!this.#agrees(this.#versionOf(response, part.size))) throw this.#changed();
      wanted.forEach(([begin, end], i) => {
        if (begin < part.begin || end > part.end) return;
        found.add(i);
        use(begin, bytes.subarray(begin - part.begin, end - part.begin));
      });
    });
    if (!isWell) throw this.#failure('corrupt', 'an answer of several parts is malformed; download the file');
    const lacking = wanted.find((_, i) => !found.has(i));
    if (!lacking) return true;
    throw this.#failure('corrupt', `an answer lacks the bytes ${lacking[0]} to ${lacking[1] - 1} that were requested; download the file`);
  }

  /** An estimate of what ranges cost, in bytes. */
  static costOf(ranges) {
    return ranges.reduce((sum, [begin, end]) => sum + end - begin + ANSWER_BYTES, 0);
  }
}

const isPartOrWhole = (status) => status === 200 || status === 206;
