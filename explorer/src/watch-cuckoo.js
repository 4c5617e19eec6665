// The cuckoo filter: a column of slots for each bucket; evictions one after the other.

import {h, s, svg} from './dom.js';
import {listed, number, rate, t} from './i18n.js';

/** The slots after the first `moves` of an insert. */
function slotsAt(trace, index, moves) {
  const before = index > 0 ? trace.steps[index - 1] : trace.empty;
  const slots = [...(before.slots ?? trace.empty.slots)];
  for (const move of moves) {
    if (move.from !== undefined) slots[move.from] = '';
    slots[move.to] = move.fingerprint;
  }
  return slots;
}

function picture({trace, index, phase, width, done}) {
  const step = trace.steps[index];
  const moves = step?.moves ?? [];
  const shown = step && !done ? moves.slice(0, Math.max(0, phase - 1)) : moves;
  const slots = !step ? trace.empty.slots : done ? step.slots : slotsAt(trace, index, shown);
  const current = step && !done && phase > 1 ? moves[phase - 2] : done ? moves.at(-1) : null;
  const [w, hgt, gap] = [64, 34, 10];
  const columns = Math.max(1, Math.min(trace.buckets, Math.floor((width + gap) / (w + gap))));
  const left = (width - columns * (w + gap) + gap) / 2;
  const high = 26 + trace.slots * (hgt + 4) + 18;
  const x = (slot) => left + (Math.floor(slot / trace.slots) % columns) * (w + gap);
  const y = (slot) => 8 + Math.floor(Math.floor(slot / trace.slots) / columns) * high + 24 + (slot % trace.slots) * (hgt + 4);
  const height = Math.ceil(trace.buckets / columns) * high + 40;
  const cells = slots.map((fingerprint, slot) => {
    const bucket = Math.floor(slot / trace.slots);
    const possible = step?.buckets.includes(bucket);
    const hit = possible && fingerprint === step.fingerprint;
    return s('g', {class: `slot${fingerprint ? ' set' : ''}${possible ? ' possible' : ''}${hit ? ' hit' : ''}${current && current.to === slot ? ' moved' : ''}`,
      'data-slot': slot, 'data-value': fingerprint},
    s('title', {}, `${t('bucket')} ${bucket}: ${fingerprint || '–'}`),
    s('rect', {x: x(slot), y: y(slot), width: w, height: hgt, rx: 5}),
    s('text', {x: x(slot) + w / 2, y: y(slot) + 22, 'text-anchor': 'middle'}, fingerprint || '·'));
  });
  const labels = Array.from({length: trace.buckets}, (_, bucket) => s('text', {class: `index${step?.buckets.includes(bucket) ? ' possible' : ''}`,
    x: x(bucket * trace.slots) + w / 2, y: y(bucket * trace.slots) - 7, 'text-anchor': 'middle'}, `${t('bucket')} ${bucket}`));
  const arrow = current && current.from !== undefined && !done ? s('path', {class: 'way', 'marker-end': 'url(#tip)',
    d: `M${x(current.from) + w / 2},${y(current.from) + hgt / 2} Q${(x(current.from) + x(current.to) + w) / 2},${Math.max(y(current.from), y(current.to)) + hgt + 26} ${x(current.to) + w / 2},${y(current.to) + hgt}`}) : null;
  const stash = (trace.steps[done || !step ? index : index - 1] ?? trace.empty).stash ?? [];
  return svg(width, height, {class: 'cuckoo',
    'aria-label': `${t('figure_load')}: ${slots.filter(Boolean).length} / ${slots.length}`},
  s('defs', {}, s('marker', {id: 'tip', viewBox: '0 0 8 8', refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto'}, s('path', {d: 'M0,0 L8,4 L0,8 Z'}))),
  cells, labels, arrow,
  stash.length ? s('text', {x: left, y: height - 10}, `${t('stash')}: ${stash.join(' ')}`) : null);
}

export const cuckooScene = {
  question: ({kind, buckets, slots, fingerprint}) => ({kind, buckets: Number(buckets), slots: Number(slots), fingerprint_bits: Number(fingerprint)}),
  erases: () => true,
  phases: (step) => 2 + (step.moves?.length ?? 0),
  settings: ({field, select}) => [field('buckets', t('buckets'), 1, 64), select('slots', t('slots'), ['2', '4', '8']),
    field('fingerprint', t('fingerprint'), 4, 32)],
  draw(frame) {
    const {trace, index, phase, done} = frame;
    const step = trace.steps[index];
    if (!step) return {picture: picture(frame), telling: h('p', {}, t('cuckoo_intro'))};
    const [a, b] = step.buckets;
    const shown = (step.moves ?? []).slice(0, done ? undefined : Math.max(0, phase - 1));
    const bucket = (slot) => Math.floor(slot / trace.slots);
    const lines = [t(a === b ? 'cuckoo_one' : 'cuckoo_place', {f: step.fingerprint, a, b}),
      ...shown.map((move) => (move.from === undefined
        ? t('cuckoo_put', {f: move.fingerprint, b: bucket(move.to)})
        : t('cuckoo_move', {f: move.fingerprint, who: move.whose.length ? ` (${listed(move.whose)})` : '', a: bucket(move.from), b: bucket(move.to)}))),
      done && step.stashes ? t('cuckoo_stash', {f: step.fingerprint}) : null,
      ...(done ? step.left ?? [] : []).map((slot) => t('cuckoo_left', {b: bucket(slot), f: step.fingerprint})),
      done && step.twins.length && ['false_positive', 'collides', 'wrongly_erased'].includes(step.verdict) ? t('cuckoo_twins', {list: listed(step.twins)}) : null];
    return {picture: picture(frame), telling: h('ul', {class: 'workings'}, lines.filter(Boolean).map((line) => h('li', {}, line)))};
  },
  figures(trace, step) {
    const now = step ?? trace.empty;
    return [[t('figure_n'), number(now.n)], [t('figure_load'), `${now.taken} / ${trace.buckets * trace.slots}`],
      [t('figure_stash'), number(now.stash.length)], [t('figure_rate'), rate(now.rate)]];
  },
};
