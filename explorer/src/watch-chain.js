// The scalable filter: a strip of bits for each filter of the chain.

import {h, s, svg} from './dom.js';
import {number, rate, t} from './i18n.js';
import {columnsOf} from './watch-array.js';

function strip(member, i, ask, width, top) {
  const size = member.m <= 128 ? 16 : 8;
  const gap = 2;
  // A filter of too many bits comes without them, and only its figures are drawn.
  const drawn = member.set ? member.m : 0;
  const columns = columnsOf(member.m, width, size + gap);
  const set = new Set(member.set);
  const asked = new Set(ask?.places ?? []);
  const rows = Math.ceil(drawn / columns);
  const cells = Array.from({length: drawn}, (_, place) => s('rect', {
    class: `${set.has(place) ? 'on' : 'off'}${asked.has(place) ? ' asked' : ''}`, x: (place % columns) * (size + gap) + 1,
    y: top + 24 + Math.floor(place / columns) * (size + gap), width: size, height: size, rx: 2}));
  return {height: 24 + rows * (size + gap) + 18, element: s('g', {class: 'strip', 'data-member': i},
    s('text', {x: 0, y: top + 15}, t('chain_member', {i: i + 1, used: number(member.used, 9), capacity: number(member.capacity, 9), m: number(member.m, 9), k: member.k})), cells)};
}

function picture({trace, index, phase, width, done}) {
  const step = trace.steps[index];
  const now = (done ? step : trace.steps[index - 1]) ?? trace.empty;
  const asks = step ? step.asks.slice(0, done ? undefined : phase) : [];
  let top = 4;
  const strips = now.members.map((member, i) => {
    const made = strip(member, i, asks.find((ask) => ask.member === i), width, top);
    top += made.height;
    return made.element;
  });
  return svg(width, top, {class: 'chain', 'data-members': now.members.length,
    'aria-label': `${t('figure_members')}: ${now.members.length}`}, strips);
}

export const chainScene = {
  question: ({kind, capacity, rate: wanted}) => ({kind, capacity: Number(capacity), rate: wanted}),
  erases: () => false,
  phases: (step) => step.asks.length + 1,
  settings: ({field}) => [field('capacity', t('first_capacity'), 1, 64), field('rate', t('wanted_rate'))],
  draw(frame) {
    const {trace, index, phase, done} = frame;
    const step = trace.steps[index];
    if (!step) return {picture: picture(frame), telling: h('p', {}, t('chain_intro'))};
    const before = index > 0 ? trace.steps[index - 1] : trace.empty;
    const lines = step.asks.slice(0, done ? undefined : phase).map(({member, found}) => t('chain_asks', {i: member + 1,
      m: number(before.members[member].m, 9), k: before.members[member].k, answer: t(found ? 'chain_yes' : 'chain_no')}));
    if (done && step.verdict === 'new') {
      const newest = step.members.length;
      const last = step.members[newest - 1];
      if (step.opened) lines.push(t('chain_opened', {i: newest, m: number(last.m, 9), n: number(last.capacity, 9), k: last.k}));
      lines.push(t('chain_into', {i: newest}));
    }
    return {picture: picture(frame), telling: h('ul', {class: 'workings'}, lines.map((line) => h('li', {}, line)))};
  },
  figures(trace, step) {
    const now = step ?? trace.empty;
    return [[t('figure_n'), number(now.n)], [t('figure_members'), number(now.members.length)],
      [t('figure_bits'), number(now.members.reduce((sum, member) => sum + member.m, 0), 9)],
      [t('figure_rate'), rate(now.rate)], [t('wanted_rate'), rate(trace.wanted)]];
  },
};
