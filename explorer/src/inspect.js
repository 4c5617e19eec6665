// Inspect: a filter file, which never leaves the page, or a sample that the library makes in it.

import {h, show} from './dom.js';
import {extra, kindName, localized, number, rate, t, translated} from './i18n.js';
import {ask, inspect} from './wasm.js';

function figure(name, value) {
  return h('div', {}, h('dt', {}, t(name)), h('dd', {id: name}, value));
}

// Figures that have a place and a word of their own, and those that are none.
const PLACED = new Set(['kind', 'capacity', 'count', 'estimated_size', 'current_fpr', 'planned_fpr', 'fill', 'bytes', 'bits', 'hashes', 'bits_per_key',
  'seed', 'overfilled', 'keyed', 'locked', 'labels', 'shown', 'picture']);

function text(name, value) {
  if (Array.isArray(value)) return value.map((ability) => t(`can_${ability}`)).join(', ') || t('query_only');
  if (name === 'holds' || name === 'meaning') return translated(value);
  if (typeof value !== 'number') return String(value);
  return /_fpr$|^fpr_|^load$/.test(name) ? rate(value) : number(value, 6);
}

/** Labels, whose names and values their user chose. */
function labels(list) {
  return Object.entries(list).map(([name, value]) => h('div', {}, h('dt', {}, t('label', {name})), h('dd', {}, value)));
}

/** All other figures of a list, also those of its groups. */
function others(list) {
  return Object.entries(list).filter(([name, value]) => !PLACED.has(name) && value !== null).flatMap(([name, value]) =>
    typeof value === 'object' && !Array.isArray(value) ? others(value) : [h('div', {}, h('dt', {}, extra(name)), h('dd', {}, text(name, value)))]);
}

/** Shares of set bits as grey pixels, 64 in a row. */
function fillMap(shares) {
  const columns = Math.min(64, shares.length);
  const rows = Math.ceil(shares.length / columns);
  const canvas = h('canvas', {class: 'fillmap', width: columns, height: rows, role: 'img', 'aria-label': t('picture'),
    style: `aspect-ratio:${columns}/${rows};max-width:640px`});
  const image = new ImageData(columns, rows);
  const dark = [0, 69, 115];
  for (const [i, share] of shares.entries()) {
    for (let c = 0; c < 3; ++c) image.data[4 * i + c] = Math.round(255 + (dark[c] - 255) * share);
    image.data[4 * i + 3] = 255;
  }
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas;
}

export function inspectView(view) {
  const out = h('div', {class: 'grid2', id: 'inspect-out', 'aria-live': 'polite'});

  function lookUp(keys, answers) {
    const made = ask({ask: 'ask', keys: keys.value.split('\n').filter((key) => key !== '')});
    if (made.error) {
      show(answers, h('li', {class: 'problem', role: 'alert'}, translated(made.error)));
      return;
    }
    show(answers, made.answers.map(({key, covered, found}) => h('li', {'data-found': covered ? String(found) : 'unknown'},
      h('span', {'aria-hidden': 'true'}, !covered ? '?' : found ? '✓' : '✗'), h('code', {}, key),
      h('span', {class: found ? '' : 'muted'}, t(!covered ? 'no_answer' : found ? 'maybe_in' : 'not_in')))));
  }

  const refuse = (sentence) =>
    show(out, h('p', {class: 'card problem', role: 'alert', id: 'inspect-problem'}, sentence));

  /** Takes a filter of the default kind with 1,000 keys, and looks up a member, a non-member and a false positive. */
  async function takeSample() {
    const {file: digits} = ask({ask: 'sample'});
    const file = new File([Uint8Array.from(digits.match(/../g), (two) => parseInt(two, 16))], 'sample.bloom');
    const [made, keys] = await take(file);
    const visitors = Array.from({length: 1000}, (_, i) => `visitor${i + 1}@example.com`);
    const wrong = ask({ask: 'ask', keys: visitors}).answers.find(({found}) => found);
    keys.value = ['user7@example.com', 'mallory@example.com', wrong?.key].join('\n').trim();
    keys.dispatchEvent(new Event('input'));
    keys.before(h('p', {class: 'muted'}, t('sample_keys', {count: number(made.count, 9), n: made.capacity - made.count})));
    out.firstChild.append(h('p', {}, h('a', {id: 'save', download: file.name, href: URL.createObjectURL(file)}, t('save'))));
  }

  async function take(file) {
    let bytes;
    try {
      bytes = new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      // A folder, or a file that is gone, is not readable, or is larger than the page's memory.
      refuse(t('unreadable', {file: file.name, why: error.message}));
      return;
    }
    const made = inspect(bytes, file.name);
    if (made.error) {
      refuse(translated(made.error));
      return;
    }
    return describe(file, made, (key) => inspect(bytes, file.name, key));
  }

  /** Shows a file, and lets its keys be looked up, once `unlock` has opened one that has a secret key. */
  function describe(file, made, unlock) {
    const problem = h('p', {class: 'problem', role: 'alert', id: 'key-problem'});
    const secret = h('input', {type: 'text', id: 'secret-key', class: 'mono', size: '34', autocomplete: 'off', spellcheck: 'false', onchange: () => {
      const opened = unlock(secret.value.trim());
      if (opened.error) show(problem, translated(opened.error));
      else describe(file, opened, unlock);
    }});
    const keys = h('textarea', {id: 'ask-keys', rows: '4', spellcheck: 'false', oninput: () => lookUp(keys, answers)});
    const answers = h('ul', {class: 'answers', id: 'answers', 'aria-live': 'polite'});
    show(out,
      h('section', {class: 'card'}, h('h2', {class: 'mono'}, file.name), h('p', {}, '✓ ', t('checksum_good')),
        made.overfilled ? h('p', {class: 'verdict bad'}, t('overfilled')) : null,
        h('dl', {class: 'figures'},
          figure('ins_kind', kindName(made.kind)), figure('ins_capacity', t('keys_unit', {n: number(made.capacity, 21)})),
          figure('ins_count', t('keys_unit', {n: number(made.count, 21)})),
          figure('ins_estimate', made.estimated_size === null ? t('unknown') : t('keys_unit', {n: number(Math.round(made.estimated_size), 21)})),
          figure('ins_current', rate(made.current_fpr)), figure('ins_planned', rate(made.planned_fpr)),
          figure('ins_fill', rate(made.fill)), figure('ins_size', localized(made.shown.bytes)), figure('ins_bits', number(made.bits, 21)),
          made.hashes ? figure('ins_k', made.hashes) : null, figure('ins_bpk', made.bits_per_key === null ? '–' : localized(made.bits_per_key.toFixed(2))),
          figure(made.keyed ? 'ins_key_id' : 'ins_seed', made.seed),
          others(made), labels(made.labels))),
      made.locked
        ? h('section', {class: 'card'}, h('h2', {}, h('label', {for: 'secret-key'}, t('secret_key'))), h('p', {}, t('key_needed')), secret, problem)
        : h('section', {class: 'card'}, h('h2', {}, t('ask_keys')),
          made.labels?.keys || made.labels?.partition ? h('p', {class: 'muted'}, t('ask_reader')) : null, keys, answers),
      h('section', {class: 'card'}, h('p', {class: 'muted', style: 'margin-top:0'}, t('picture')), fillMap(made.picture)));
    return [made, keys];
  }

  const chooser = h('input', {type: 'file', id: 'file', onchange: async (event) => {
    if (event.target.files[0]) await take(event.target.files[0]);
    // The same file may be chosen again, once it can be read.
    event.target.value = '';
  }});
  const drop = h('div', {class: 'drop', id: 'drop',
    ondragover: (event) => { event.preventDefault(); drop.classList.add('over'); },
    ondragleave: () => drop.classList.remove('over'),
    ondrop: (event) => {
      event.preventDefault();
      drop.classList.remove('over');
      if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
      else refuse(t('no_file'));
    }},
  h('p', {style: 'margin:0'}, t('inspect_intro')),
  h('div', {class: 'row'}, chooser, h('label', {for: 'file', class: 'button'}, t('choose_file')),
    h('button', {type: 'button', id: 'sample', onclick: takeSample}, t('sample'))));
  show(view, h('div', {class: 'grid2'}, h('section', {class: 'card', 'aria-label': t('inspect')}, drop), out));
}
