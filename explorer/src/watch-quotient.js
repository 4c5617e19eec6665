// The vector quotient filter: the slots of each block, and a key's two blocks.

import {h, s, svg} from './dom.js';
import {number, rate, t} from './i18n.js';

/** The block whose slots an insert or erase changed. */
const changed = (step) => step.taken.findIndex((taken, block) => taken !== step.before[block]);

function picture({trace, index, width, done}) {
  const step = trace.steps[index];
  const taken = !step ? trace.empty.taken : done ? step.taken : step.before;
  const gap = 2;
  const size = Math.max(3, Math.min(18, (width - 8) / trace.slots - gap));
  const high = size + 40;
  const rows = taken.map((full, block) => s('g', {class: `vq${step?.blocks.includes(block) ? ' possible' : ''}`, 'data-block': block, 'data-taken': full},
    s('text', {x: 4, y: block * high + 16}, t('block_name', {i: block, x: full, s: trace.slots})),
    s('rect', {class: 'line', x: 1, y: block * high + 23, width: width - 2, height: size + 8, rx: 4}),
    Array.from({length: trace.slots}, (_, slot) => s('rect', {
      class: `place${slot < full ? ' on' : ''}${done && step && changed(step) === block && slot === Math.max(full, step.before[block]) - 1 ? ' changed' : ''}`,
      x: 5 + slot * (size + gap), y: block * high + 27, width: size, height: size, rx: 2}))));
  const height = taken.length * high + 4;
  return svg(width, height, {class: 'quotient',
    'aria-label': `${t('figure_load')}: ${taken.reduce((a, b) => a + b, 0)} / ${trace.slots * taken.length}`}, rows);
}

export const quotientScene = {
  question: ({kind, blocks}) => ({kind, blocks: Number(blocks)}),
  erases: () => true,
  phases: () => 2,
  settings: ({field}) => [field('blocks', t('blocks'), 1, 16)],
  draw(frame) {
    const {trace, index, done} = frame;
    const step = trace.steps[index];
    if (!step) return {picture: picture(frame), telling: h('p', {}, t('quotient_intro', {b: trace.buckets, r: trace.remainder_bits}))};
    const [a, b] = step.blocks;
    const told = [t('quotient_place', {q: step.bucket, r: step.remainder, a, b}),
      t('quotient_taken', {a, b, x: step.before[a], y: step.before[b], s: trace.slots})];
    if (done && changed(step) >= 0) told.push(t(step.verb === 'insert' ? 'quotient_into' : 'quotient_from', {a: changed(step)}));
    if (done) told.push(t('quotient_copies', {n: step.copies}));
    return {picture: picture(frame), telling: h('ul', {class: 'workings'}, told.map((line) => h('li', {}, line)))};
  },
  figures(trace, step) {
    const now = step ?? trace.empty;
    return [[t('figure_n'), number(now.n)], [t('figure_load'), `${now.taken.reduce((x, y) => x + y, 0)} / ${trace.slots * trace.blocks}`],
      [t('figure_stash'), number(now.stashed)], [t('figure_rate'), rate(now.rate)]];
  },
};
