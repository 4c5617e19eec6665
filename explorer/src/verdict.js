// A step's verdict, in words and with a sign: never by colour alone.

import {h} from './dom.js';
import {t} from './i18n.js';

const SIGNS = {
  new: ['good', '✓'], again: ['plain', '='], collides: ['warn', '!'], lost: ['bad', '!'], full: ['bad', '■'], too_many: ['bad', '■'],
  member: ['good', '✓'], absent: ['plain', '✗'], false_positive: ['bad', '!'], false_negative: ['bad', '!'],
  erased: ['good', '−'], wrongly_erased: ['bad', '!'], nothing_to_erase: ['plain', '✗'], nothing_left: ['bad', '!'],
  exact_held: ['good', '✓'], exact_yes: ['good', '✓'], exact_no_equation: ['good', '✗'], exact_no_bit: ['good', '✗'],
  exact_unknown: ['warn', '?'],
};

// Kinds with an entry for each element and its copies, instead of bits that elements share.
const KEEPS_ENTRIES = ['cuckoo', 'vector_quotient', 'expandable'];
const OWN_WORDS = ['new', 'again', 'collides', 'absent', 'false_positive', 'too_many'];
// For these it matters that the element was in the set once: the trace may be its own.
const OF_GONE = ['collides', 'false_positive', 'wrongly_erased'];

function reason(step, kind) {
  if (step.gone && OF_GONE.includes(step.verdict)) {
    return `why_${step.verdict}_${{all: 'stuck', some: 'partly_stuck'}[step.stuck] ?? 'gone'}`;
  }
  return `why_${step.verdict}${KEEPS_ENTRIES.includes(kind) && OWN_WORDS.includes(step.verdict) ? '_entry' : ''}`;
}

export function verdictOf(step, kind) {
  const [how, sign] = SIGNS[step.verdict] ?? ['plain', '•'];
  return h('p', {class: `verdict ${how}`, id: 'verdict', 'data-verdict': step.verdict},
    h('span', {class: 'sign', 'aria-hidden': 'true'}, sign),
    h('span', {}, h('strong', {}, t(`verdict_${step.verdict}`)), ' ',
      t(reason(step, kind), {x: step.element, cells: t(kind === 'counting_bloom' ? 'counters' : 'bits'),
        cells1: t(kind === 'counting_bloom' ? 'counter' : 'bit')})));
}
