// Filters on a server, of which parts are read: right and wrong servers. tests/languages/test_remote.py has nginx.

import assert from 'node:assert/strict';
import {createServer} from 'node:http';
import test from 'node:test';

import {build, newKey, open} from 'bloomset';
import {openRemote} from 'bloomset/remote';

const MEMBERS = Array.from({length: 200_000}, (_, i) => `user${i}@example.com`);
const ASKED = Array.from({length: 100}, (_, i) => [`user${i}@example.com`, `guest${i}`]).flat();
const file = (await build(MEMBERS, {kind: 'blocked_bloom', fpr: '1%'})).toBytes();
const expected = (await open(file)).hasMany(ASKED);

const servers = [];
test.after(() => servers.forEach((server) => {
  server.closeAllConnections?.();
  server.close();
}));

/** A server of the file. `change(answer, number)` changes the answer to request `number`; `answer.ranges` are those requested. */
async function serve(change = () => {}, content = file) {
  const server = createServer((request, response) => {
    const number = server.requests++;
    const ranges = [...(request.headers.range ?? '').matchAll(/(\d+)-(\d*)/g)].map((found) => [Number(found[1]),
      Math.min(found[2] ? Number(found[2]) : Infinity, content.length - 1)]);
    const [first, last] = ranges[0] ?? [0, content.length - 1];
    const answer = {ranges, status: 206, body: content.subarray(first, last + 1), length: undefined, close: false, wait: 0,
      headers: {etag: '"one"', 'content-range': `bytes ${first}-${last}/${content.length}`}};
    change(answer, number);
    if (answer.close) {
      request.socket.destroy();
      return;
    }
    setTimeout(() => {
      response.writeHead(answer.status, {...answer.headers, 'content-length': answer.length ?? answer.body.length});
      if (answer.length === undefined) response.end(answer.body);
      else response.write(answer.body, () => request.socket.destroy());
    }, answer.wait);
  });
  server.requests = 0;
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  servers.push(server);
  server.address_ = `http://127.0.0.1:${server.address().port}/f.bloom`;
  return server;
}

/** Asks a server whose answers are changed from request `from` on. */
async function ask(change, from = 0, options = {}) {
  const server = await serve((answer, number) => number >= from && change(answer, number));
  const filter = await openRemote(server.address_, options);
  return {filter, server, answers: await filter.hasMany(ASKED)};
}

/** Several ranges as a server sends them. */
function parted(answer, boundary = 'x') {
  const pieces = answer.ranges.flatMap(([first, last]) => [
    `--${boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes ${first}-${last}/${file.length}\r\n\r\n`,
    file.subarray(first, last + 1), '\r\n']);
  answer.headers = {etag: '"one"', 'content-type': `multipart/byteranges; boundary=${boundary}`};
  answer.body = Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)));
}

test('the answers are those of the file, from a server of one range at a time', async () => {
  const {filter, answers} = await ask(() => {});
  assert.deepEqual(answers, expected);
  assert.equal(filter.info().kind, 'blocked_bloom');
  assert.ok(filter.traffic.bytes < file.length);
});

test('keys of a batch share requests', async () => {
  const {answers, server, filter} = await ask((answer) => answer.ranges.length > 1 && parted(answer));
  assert.deepEqual(answers, expected);
  // Blocks that are near each other are one range.
  assert.ok(server.requests >= 3 && server.requests <= 1 + Math.ceil(ASKED.length / 64), String(server.requests));
  assert.deepEqual(filter.traffic.requests, server.requests);
  const before = server.requests;
  assert.deepEqual(await filter.hasMany(ASKED), expected);
  assert.equal(server.requests, before, 'what was read stays');
});

test('many keys read the file once', async () => {
  const server = await serve((answer) => answer.ranges.length > 1 && parted(answer));
  const filter = await openRemote(server.address_);
  assert.ok((await filter.hasMany(MEMBERS)).every(Boolean));
  assert.ok(filter.traffic.bytes < 2 * file.length);
  assert.deepEqual(await Promise.all([filter.has('user7@example.com'), filter.has('mallory')]), [true, false]);
});

test('a server without ranges sends the whole file', async () => {
  const whole = (answer) => {
    answer.status = 200;
    answer.body = file;
    delete answer.headers['content-range'];
  };
  const {answers, server} = await ask(whole);
  assert.deepEqual(answers, expected);
  assert.equal(server.requests, 1);
  await assert.rejects(ask(whole, 0, {maxBytes: 10_000}), {code: 'unsupported', message: /sends only the whole file, .* give a larger maxBytes/});
  await assert.rejects(ask(whole, 1), {code: 'unsupported', message: /a part of the file first and the whole file later/});
  const damaged = Uint8Array.from(file);
  damaged[damaged.length - 1] ^= 1;
  await assert.rejects(ask((answer) => {
    whole(answer);
    answer.body = damaged;
  }), {code: 'corrupt', message: /f\.bloom: the payload's checksum does not match/});
});

test('a wrong length', async () => {
  for (const from of [0, 1, 2]) {
    await assert.rejects(ask((answer) => {
      answer.body = answer.body.subarray(0, -1);
    }, from), {code: 'corrupt', message: /^http.*f\.bloom: the server sent fewer bytes than it had announced; download/});
  }
  for (const from of [0, 2]) {
    await assert.rejects(ask((answer) => {
      answer.body = Buffer.concat([file, file]);
    }, from), {code: 'corrupt', message: /more bytes than it had announced/});
  }
});

test('a connection that closes within an answer is tried again', async () => {
  const half = (answer) => {
    answer.length = answer.body.length;
    answer.body = answer.body.subarray(0, answer.body.length / 2);
  };
  assert.deepEqual((await ask((answer, number) => number === 2 && half(answer))).answers, expected);
  assert.deepEqual((await ask((answer, number) => number === 0 && (answer.close = true))).answers, expected);
  await assert.rejects(ask(half), {code: 'io', message: /the transfer failed: .* \(tried 4 times\)$/});
});

test('a wrong Content-Range', async () => {
  for (const text of ['bytes 1-{last}/{size}', 'bytes 0-{last}/', 'bytes {first}-{last}/*', 'bytes 5-4/{size}', 'items {first}-{last}/{size}',
    'bytes {first}-{first}/{size}', 'bytes 0-99999999999999999999999/{size}', undefined]) {
    for (const from of [0, 2]) {
      await assert.rejects(ask((answer) => {
        const [first, last] = answer.ranges[0];
        if (text === undefined) delete answer.headers['content-range'];
        else {
          answer.headers['content-range'] = text.replace('{first}', first).replace('{last}', last).replace('{size}', file.length);
        }
      }, from), {name: 'BloomsetError', code: 'corrupt', message: /does not know ranges, so download the file/});
    }
  }
});

test('a file that changes meanwhile', async () => {
  const refused = {code: 'incompatible', message: /the file on the server has changed meanwhile; open it again$/};
  await assert.rejects(ask((answer) => {
    answer.headers.etag = '"two"';
  }, 2), refused);
  await assert.rejects(ask((answer) => {
    answer.ranges.length > 1 && parted(answer);
    answer.headers.etag = '"two"';
  }, 1), refused);
  await assert.rejects(ask((answer, number) => {
    delete answer.headers.etag;
    answer.headers['last-modified'] = `Sat, 28 Nov 2026 19:00:0${Math.min(number, 2)} GMT`;
  }), refused);
  await assert.rejects(ask((answer) => {
    delete answer.headers.etag;
    answer.headers['content-range'] = answer.headers['content-range'].replace(/\d+$/, file.length + 1);
  }, 2), refused);
});

test('malformed parts', async () => {
  const size = file.length;
  for (const body of ['', '--x', '--x\r\n', '--x\r\nContent-Range: bytes 0-9/10\r\n\r\n0123456789', '--x\r\n\r\n0123\r\n--x--', '--y\r\n',
    '--x\r\nContent-Range: bytes 0-99999999/200000000\r\n\r\n01\r\n--x--', `--x\r\nContent-Range: bytes 0-3/${size}\r\n\r\n0123\r\n--x`]) {
    await assert.rejects(ask((answer) => {
      answer.headers = {etag: '"one"', 'content-type': 'multipart/byteranges; boundary=x'};
      answer.body = Buffer.from(body);
    }, 1), {code: /corrupt|incompatible/, message: /malformed|changed meanwhile/});
  }
  await assert.rejects(ask((answer) => {
    parted(Object.assign(answer, {ranges: [[0, 3], [8, 11]]}), '"x y"');
  }, 1), {code: 'corrupt', message: /malformed|lacks the bytes/});
});

test('a busy, a slow, a packing and a lying server', async () => {
  const busy = (answer) => Object.assign(answer, {status: 503, body: Buffer.from('busy'), headers: {}});
  assert.deepEqual((await ask((answer, number) => [0, 2].includes(number) && busy(answer))).answers, expected);
  await assert.rejects(ask(busy), {code: 'io', message: /answers with status 503; .* \(tried 4 times\)$/});
  await assert.rejects(ask((answer) => {
    answer.wait = 600;
  }, 0, {timeout: 0.1}), {code: 'io', message: /the transfer failed/});
  await assert.rejects(ask((answer) => {
    answer.headers['content-encoding'] = 'gzip';
  }), {code: 'unsupported', message: /packed as gzip|the transfer failed/});
  // A size that is not true: no memory is taken for it, and the header tells.
  for (const size of [2 ** 30, 2 ** 31, 2 ** 40]) {
    await assert.rejects(ask((answer) => {
      answer.headers['content-range'] = answer.headers['content-range'].replace(/\d+$/, size);
    }), {name: 'BloomsetError', message: /f\.bloom: /});
  }
});

test('maxBytes, signal and fetch', async () => {
  await assert.rejects(ask(() => {}, 0, {maxBytes: 5000}), {code: 'unsupported', message: /need more than 5000 bytes; give a larger maxBytes/});
  await assert.rejects(ask(() => {}, 0, {signal: AbortSignal.abort()}), {name: 'AbortError'});
  const seen = [];
  const {answers} = await ask(() => {}, 0, {fetch: (url, options) => {
    seen.push(options.headers.Range);
    return fetch(url, options);
  }});
  assert.deepEqual(answers, expected);
  assert.equal(seen[0], 'bytes=0-4095');
  for (const options of [{maxBytes: 0}, {timeout: NaN}, {key: new Uint8Array(3)}]) await assert.rejects(ask(() => {}, 0, options), TypeError);
});

test('what is not such a file', async () => {
  const text = await serve(() => {}, Buffer.from('x'.repeat(10_000)));
  await assert.rejects(openRemote(text.address_), {code: 'corrupt', message: /f\.bloom: this is not a Bloomset filter/});
  const short = await serve(() => {}, file.subarray(0, 100));
  await assert.rejects(openRemote(short.address_), {code: 'corrupt', message: /f\.bloom: .*damaged/});
  const missing = await serve((answer) => Object.assign(answer, {status: 404, headers: {}}));
  await assert.rejects(openRemote(missing.address_), {code: 'not_found', message: /no such file \(status 404\)/});
  await assert.rejects(openRemote('f.bloom'), TypeError);
  await assert.rejects(openRemote('file:///f.bloom'), TypeError);
  await assert.rejects(openRemote('http://me:secret@127.0.0.1/f'), (error) => error instanceof TypeError && !error.message.includes('secret'));
  await assert.rejects(openRemote('http://127.0.0.1:1/f'), {code: 'io', message: /\(tried 4 times\)$/});
});

test('a secret key, and 128-bit hashes', async () => {
  const key = await newKey();
  const keyed = await serve(() => {}, (await build(MEMBERS, {key})).toBytes());
  assert.ok(await (await openRemote(keyed.address_, {key})).has('user3@example.com'));
  await assert.rejects(openRemote(keyed.address_), {code: 'invalid_argument', message: /give the key/});
  const wide = await serve(() => {}, (await build(MEMBERS, {kind: 'ribbon', hash: 'xxh3-2x64'})).toBytes());
  await assert.rejects(openRemote(wide.address_), {code: 'unsupported', message: /128-bit hashes/});
});
