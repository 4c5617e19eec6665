// The exact filter: slots of one bit, whose values the build chose, and the words of the universe with their
// equations and their bits in the last section.

import {h, s, svg} from './dom.js';
import {listed, number, t} from './i18n.js';

/** "s1 ⊕ s3 ⊕ s5 = 1" */
const equation = ({slots, value}) => `${slots.map((slot) => `s${slot}`).join(' ⊕ ')} = ${value}`;

function picture({trace, index, width}) {
  const row = trace.steps[index]?.row;
  const members = new Set(trace.members.map(({word}) => word));
  const all = [...trace.members, ...trace.others];
  if (row && !all.some(({word}) => word === row.word)) all.push(row);
  const [size, gap, high] = [30, 6, 24];
  const columns = Math.max(4, Math.min(trace.slots, Math.floor((width + gap) / (size + gap))));
  const left = (width - columns * (size + gap) + gap) / 2;
  const x = (slot) => left + (slot % columns) * (size + gap);
  const y = (slot) => 20 + Math.floor(slot / columns) * (size + 24);
  const below = y(trace.slots - 1) + size + 36;
  const slots = Array.from({length: trace.slots}, (_, slot) => {
    const set = trace.set.includes(slot);
    const free = trace.free.includes(slot);
    return s('g', {class: `slot${set ? ' set' : ''}${free ? ' free' : ''}${row?.slots.includes(slot) ? ' possible' : ''}`,
      'data-slot': slot, 'data-value': set ? 1 : 0},
    s('title', {}, `s${slot}: ${set ? 1 : 0}${free ? ` (${t('exact_free')})` : ''}`),
    s('rect', {x: x(slot), y: y(slot), width: size, height: size, rx: 5, 'stroke-dasharray': free ? '4 3' : null}),
    s('text', {x: x(slot) + size / 2, y: y(slot) + 20, 'text-anchor': 'middle'}, set ? 1 : 0),
    s('text', {class: 'index', x: x(slot) + size / 2, y: y(slot) - 5, 'text-anchor': 'middle'}, `s${slot}`));
  });
  const known = (word) => members.has(word) || trace.others.some((other) => other.word === word);
  const last = (one) => (!one.passes ? '–' : !known(one.word) ? '?' : members.has(one.word) ? '1' : '0');
  const [second, third] = [Math.max(80, width * 0.3), Math.max(190, width * 0.72)];
  const text = (at, line, words, more = {}) => s('text', {x: at, y: below + line * high, ...more}, words);
  const words = all.map((one, i) => s('g', {class: `word${one.word === row?.word ? ' now' : ''}`, 'data-word': one.word,
    'data-equation': equation(one), 'data-bit': last(one)},
    text(4, i + 1, one.word.length > 14 ? `${one.word.slice(0, 13)}…` : one.word, {class: members.has(one.word) ? 'member' : ''}),
    text(second, i + 1, `${equation(one)} ${one.passes ? '✓' : '✗'}`),
    text(third, i + 1, last(one))));
  return svg(width, below + (all.length + 1) * high, {class: 'exact',
    'aria-label': t('exact_chosen', {n: number(trace.choices, 9), x: trace.passing})},
  slots, text(4, 0, t('exact_word'), {class: 'index'}), text(second, 0, t('exact_equation'), {class: 'index'}),
  text(third, 0, t('exact_last'), {class: 'index'}), words);
}

export const exactScene = {
  question: ({kind, exactSlots, others}) => ({kind, slots: Number(exactSlots),
    others: others.split(',').map((word) => word.trim()).filter(Boolean)}),
  erases: () => false,
  phases: () => 1,
  settings: ({field}) => [field('exactSlots', t('exact_slots'), 4, 24), field('others', t('exact_others'))],
  draw(frame) {
    const {trace, index} = frame;
    const step = trace.steps[index];
    const told = step ? [t('exact_row', {x: step.row.word, e: equation(step.row)})]
      : [t('exact_intro'),
        trace.free.length ? t('exact_slots_free', {list: listed(trace.free.map((slot) => `s${slot}`))}) : t('exact_none_free'),
        t('exact_chosen', {n: number(trace.choices, 9), x: trace.passing})];
    return {picture: picture(frame), telling: h('ul', {class: 'workings'}, told.map((line) => h('li', {}, line)))};
  },
  figures: (trace) => [[t('exact_members'), number(trace.members.length)], [t('exact_other_words'), number(trace.others.length)],
    [t('figure_bits'), `${trace.slots} + ${trace.members.length + trace.passing}`], [t('figure_wrong'), '0']],
};
