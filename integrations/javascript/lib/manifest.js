// The manifest of a published folder (docs/reference/format.md, "Published folders").

import {BloomsetError} from './error.js';

export const MANIFEST = 'manifest.json';
export const MAX_MANIFEST = 2 ** 20;
const FORMAT = 'bloomset-manifest-1';
const MAX_FILES = 4096;

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (form) => (value) => typeof value === 'string' && form.test(value);
const isWhole = (least, most) => (value) => Number.isInteger(value) && value >= least && value <= most;
const isTime = isText(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

const FILE = {file: isText(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/), bytes: isWhole(1, 2 ** 48), sha256: isText(/^[0-9a-f]{64}$/)};
const MEMBERS = {
  sequence: isWhole(1, 2 ** 53),
  published: isTime,
  valid_until: (value) => value === undefined || isTime(value),
  max_fpr: (value) => typeof value === 'number' && value > 0 && value < 1,
  labels: (value) => isObject(value) && Object.values(value).every((label) => typeof label === 'string'),
};
const LISTS = {
  patches: {...FILE, from: isText(/^[0-9a-f]{16}$/)},
  layers: {...FILE, keys: isWhole(1, 2 ** 40)},
};

// The first member that is missing or wrong.
function wrongIn(object, members, where) {
  if (!isObject(object)) return where;
  const name = Object.keys(members).find((each) => !members[each](Object.hasOwn(object, each) ? object[each] : undefined));
  return name && (where ? `${where}.${name}` : name);
}

/** The manifest in a text. `name` is its address for messages. */
export function readManifest(text, name) {
  const wrong = (how) => new BloomsetError('corrupt', `${name}: ${how}; give a folder that 'bloomset publish' wrote`);
  let all;
  try {
    all = JSON.parse(text);
  } catch {
    all = undefined;
  }
  if (!isObject(all)) throw wrong('this is not a manifest, because it is not a JSON object');
  if (typeof all.format !== 'string') throw wrong('this is not a manifest, because it names no format');
  if (all.format !== FORMAT) throw new BloomsetError('unsupported', `${name}: its format is not ${FORMAT}; use a newer bloomset`);
  let where = wrongIn(all, MEMBERS, '') ?? wrongIn(all.base, FILE, 'base');
  for (const [list, members] of Object.entries(LISTS)) {
    if (where) break;
    if (!Array.isArray(all[list]) || all[list].length > MAX_FILES) where = list;
    else all[list].some((each, i) => (where = wrongIn(each, members, `${list}[${i}]`)));
  }
  if (where) throw wrong(`${where} is missing or wrong`);
  return all;
}

/** The patches from the base with that SHA-256 to the present one; none if there is no way. */
export function patchesFrom(manifest, sha256) {
  const first = manifest.patches.findIndex((patch) => patch.from === sha256.slice(0, 16));
  return first < 0 ? [] : manifest.patches.slice(first);
}
