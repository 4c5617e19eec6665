// The library: questions as objects, answers as objects.

import binary from 'bloomset.wasm';

let compiled;
let instance;
let held = 0;  // the address of the inspected file's bytes

// The C library imports system calls that the page never needs. Each returns "not supported", except those
// whose answer would stay unset.
function system() {
  const imports = {};
  for (const {module, name} of WebAssembly.Module.imports(compiled)) {
    imports[module] ??= {};
    imports[module][name] = () => 52;
  }
  const view = () => new DataView(instance.exports.memory.buffer);
  const zeros = (...places) => {
    for (const at of places) view().setUint32(at, 0, true);
    return 0;
  };
  const wasi = imports.wasi_snapshot_preview1 ?? {};
  if (wasi.environ_sizes_get) wasi.environ_sizes_get = (count, size) => zeros(count, size);
  if (wasi.environ_get) wasi.environ_get = () => 0;
  if (wasi.proc_exit) wasi.proc_exit = () => { throw new WebAssembly.RuntimeError('exit'); };
  return imports;
}

// Asynchronous, since some browsers refuse to compile a module of this size synchronously.
async function start() {
  compiled ??= await WebAssembly.compile(binary);
  const made = await WebAssembly.instantiate(compiled, system());
  instance = made;
  instance.exports._initialize();
}

/** Resolves when the library can be asked. */
export const ready = start();

function put(bytes) {
  const at = instance.exports.explorer_alloc(bytes.length || 1);
  if (at === 0) throw new Error('out of memory');
  new Uint8Array(instance.exports.memory.buffer, at, bytes.length).set(bytes);
  return at;
}

function answerOf(size) {
  const at = instance.exports.explorer_answer();
  return JSON.parse(new TextDecoder().decode(
    new Uint8Array(instance.exports.memory.buffer, at, size)));
}

// A filter that is too large for the page's memory ends the module's call. The module is then started again.
function guarded(work) {
  try {
    return work();
  } catch (error) {
    instance = undefined;
    held = 0;
    start();
    return {error: 'this is too large for the page; use the command line', cause: String(error)};
  }
}

const encode = (object) => new TextEncoder().encode(JSON.stringify(object));

/** The answer to `question`, or {error: a sentence}. */
export function ask(question) {
  return guarded(() => {
    const text = encode(question);
    const at = put(text);
    const size = instance.exports.explorer_ask(at, text.length);
    instance.exports.explorer_free(at);
    return answerOf(size);
  });
}

/** Opens a filter file, which ask({ask: 'ask', keys}) then queries, unless it needs a secret key. */
export function inspect(bytes, name, key) {
  return guarded(() => {
    const text = encode({name, key});
    const file = put(bytes);
    const at = put(text);
    const size = instance.exports.explorer_inspect(file, bytes.length, at, text.length);
    instance.exports.explorer_free(at);
    if (held) instance.exports.explorer_free(held);
    held = file;
    return answerOf(size);
  });
}
