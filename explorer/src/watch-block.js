// The blocked filter beside the classic one: which cache lines a key touches.

import {h, s, svg} from './dom.js';
import {number, rate, t} from './i18n.js';

function lines(title, blocks, set, asked, width, top, name) {
  const columns = width < 560 ? 64 : 128;
  const cell = (width - 8) / columns;
  const rows = 512 / columns;
  const size = Math.max(1.5, cell - (cell > 5 ? 1 : 0.5));
  const ones = new Set(set);
  const places = new Set(asked);
  const touched = new Set([...places].map((place) => Math.floor(place / 512)));
  const high = rows * cell + 13;
  const all = [s('text', {x: 0, y: top + 14, style: 'font-weight:600'}, title)];
  for (let block = 0; block < blocks; ++block) {
    const y = top + 26 + block * high;
    all.push(s('rect', {class: `line${touched.has(block) ? ' touched' : ''}`, 'data-line': block, x: 0.5, y: y - 4, width: width - 1, height: rows * cell + 8, rx: 4}));
    for (let bit = 0; bit < 512; ++bit) {
      const place = block * 512 + bit;
      if (!ones.has(place) && !places.has(place)) continue;
      const large = places.has(place) ? 2 : 0;
      all.push(s('rect', {class: `${ones.has(place) ? 'on' : 'off'}${places.has(place) ? ' asked' : ''}`, x: (bit % columns) * cell + 5 - large / 2,
        y: y + Math.floor(bit / columns) * cell - large / 2, width: size - 1 + large, height: size - 1 + large}));
    }
  }
  return {height: 32 + blocks * high, element: s('g', {class: `lines ${name}`}, all)};
}

function picture({trace, index, phase, width, done}) {
  const step = trace.steps[index];
  const now = (done ? step : trace.steps[index - 1]) ?? trace.empty;
  const one = lines(t('blocked_filter'), trace.blocks, now.blocked_set, step && (done || phase >= 1) ? step.places : [], width, 2, 'blocked');
  const two = lines(t('classic_filter'), trace.blocks, now.classic_set, step && (done || phase >= 2) ? step.classic_places : [], width, one.height + 8, 'classic');
  const height = one.height + two.height + 10;
  return svg(width, height, {class: 'blocks', 'aria-label': t('block_intro')}, one.element, two.element);
}

export const blockScene = {
  question: ({kind, blocks}) => ({kind, blocks: Number(blocks)}),
  erases: () => false,
  phases: () => 3,
  settings: ({field}) => [field('blocks', t('blocks'), 1, 16)],
  draw(frame) {
    const {trace, index, phase, done} = frame;
    const step = trace.steps[index];
    if (!step) return {picture: picture(frame), telling: h('p', {}, t('block_intro'))};
    const told = [t('block_one', {b: step.block, k: trace.functions})];
    if (done || phase >= 2) told.push(t('block_many', {k: trace.functions, lines: step.classic_lines.length}));
    if (done && step.verb === 'check') told.push(t('classic_says', {answer: t(step.classic ? 'says_maybe' : 'says_no')}));
    return {picture: picture(frame), telling: h('ul', {class: 'workings'}, told.map((line) => h('li', {}, line)))};
  },
  figures(trace, step) {
    const now = step ?? trace.empty;
    return [[t('figure_n'), number(now.n)], [t('figure_lines'), step ? `1 / ${step.classic_lines?.length ?? '–'}` : '–'],
      [t('figure_rate_blocked'), rate(now.rate)], [t('figure_rate_classic'), rate(now.classic_rate)]];
  },
};
