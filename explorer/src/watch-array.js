// Bits and counters: an arrow for each hash function h1..hk, from the element to its cell.

import {h, s, svg} from './dom.js';
import {listed, number, rate, t} from './i18n.js';

const FAMILIES = ['formulas', 'double', 'salted', 'md5', 'fnv-murmur'];
const WRONG = ['false_positive', 'collides'];
const MOST_SETTERS = 8;

const folds = ({kind, family}) => kind === 'bloom' && family !== 'formulas';

/** The numbers that divide m, up to 16. */
const factors = (m) => Array.from({length: 16}, (_, i) => i + 1).filter((c) => Number(m) % c === 0).map(String);

/** The cells after the steps up to `index`; of that step only the first `phase` probes. */
function cellsAt(trace, index, phase) {
  const cells = new Array(trace.places).fill(0);
  for (let i = 0; i <= index; ++i) {
    const step = trace.steps[i];
    if (step.error || step.verb === 'check') continue;
    for (const probe of step.probes.slice(0, i === index ? phase : step.probes.length)) {
      cells[probe.place] = probe.after;
    }
  }
  return cells;
}

/** Cells in a row: all of a short array, else 16, or 32 or 64 where so many fit. */
export function columnsOf(places, width, pitch) {
  let columns = 16;
  while (pitch < 40 && columns < places && 2 * columns * pitch * 0.85 <= width) columns *= 2;
  return Math.min(places, columns);
}

function grid(places, width) {
  const margin = places > 64 ? 30 : 0;  // the number of each row's first cell, where cells have none
  const [large, room] = places <= 64 ? [40, 4] : places <= 512 ? [20, 2] : [10, 1];
  const columns = columnsOf(places, width - margin, large + room);
  const gap = (width - margin + room) / columns < 30 ? Math.min(room, 2) : room;
  // Room for the frames of the outer cells.
  const wide = Math.min(places <= 16 ? 72 : large, (width - margin - 4 + gap) / columns - gap);
  const size = large === 40 && wide < 26 ? 30 : large;
  const left = margin + (width - margin - columns * (wide + gap) + gap) / 2;
  const label = large === 40 ? 16 : 0;
  return {
    size, wide, label, columns, left, rows: Math.ceil(places / columns), height: size + gap + label,
    x: (place) => left + (place % columns) * (wide + gap),
    y: (place) => Math.floor(place / columns) * (size + gap + label) + label,
  };
}

function picture({trace, index, phase, width, done}) {
  const step = trace.steps[index];
  const cells = cellsAt(trace, index, phase);
  const probes = step && !done ? step.probes.slice(0, phase) : step?.probes ?? [];
  const layout = grid(trace.places, width);
  const k = trace.functions;
  const top = 104;
  const bottom = top + layout.rows * layout.height + 6;
  const px = (place) => layout.x(place) + layout.wide / 2;
  const py = (place) => top + layout.y(place);
  const hx = (i) => width * (i + 0.5) / k;
  const wrong = step && done && WRONG.includes(step.verdict);
  const setters = wrong ? [...new Set(step.probes.flatMap((probe) => probe.setters))].slice(0, MOST_SETTERS) : [];
  const sx = (i) => width * (i + 0.5) / setters.length;
  // The room of the setters is kept in each frame of a walk that has a false positive.
  const height = bottom + (trace.steps.some(({verdict}) => WRONG.includes(verdict)) ? 92 : 0);
  const probed = new Set(probes.map((probe) => probe.place));
  const kind = trace.largest > 1 ? t('counter') : t('bit');

  const all = cells.map((value, place) => {
    const x = layout.x(place);
    const y = py(place);
    const label = `${kind} ${place}: ${value}`;
    const group = s('g', {class: `cell${value ? ' set' : ''}${value && value < 0.6 * trace.largest ? ' pale' : ''}${value === trace.largest && value > 1 ? ' stuck' : ''}${probed.has(place) ? ' probed' : ''}`,
      'data-place': place, 'data-value': value},
    s('title', {}, label),
    s('rect', {x, y, width: layout.wide, height: layout.size, rx: layout.size / 8,
      style: trace.largest > 1 && value ? `--share:${Math.min(1, 0.35 + 0.65 * value / trace.largest)}` : null}));
    if (layout.label) {
      group.append(
        s('text', {x: px(place), y: y - 4, class: 'index', 'text-anchor': 'middle'}, place),
        s('text', {x: px(place), y: y + layout.size / 2 + 6, class: 'value', 'text-anchor': 'middle'}, value));
    }
    return group;
  });

  const every = Math.ceil(11 / layout.height);  // rows are lower than letters in a large array
  const numbers = layout.label ? [] : Array.from({length: Math.ceil(layout.rows / every)}, (_, i) => i * every * layout.columns).map((place) =>
    s('text', {x: layout.left - 5, y: py(place) + layout.size / 2 + 4, class: 'index', 'text-anchor': 'end'}, place));

  const arrows = probes.map((probe, i) => {
    const x = px(probe.place);
    const y = py(probe.place) - (layout.label ? 15 : 1);
    const now = !done && i === phase - 1;
    return s('g', {class: `arrow f${i % 8}${now ? ' now' : ''}`},
      s('path', {d: `M${hx(i)},${72} C${hx(i)},${(72 + y) / 2} ${x},${(72 + y) / 2} ${x},${y - 7}`}),
      s('path', {class: 'head', d: `M${x - 5},${y - 8} L${x + 5},${y - 8} L${x},${y} Z`}));
  });
  const functions = step ? Array.from({length: k}, (_, i) =>
    s('g', {class: `function f${i % 8}${i < probes.length ? ' on' : ''}`},
      s('path', {class: 'thread', d: `M${width / 2},30 L${hx(i)},50`}),
      s('circle', {cx: hx(i), cy: 60, r: Math.min(13, width / k / 2 - 1)}),
      s('text', {x: hx(i), y: 64, 'text-anchor': 'middle', style: `font-size:${Math.min(12, width / k / 2 - 2)}px`}, `h${i + 1}`))) : [];
  const name = step ? shorten(step.element, 28) : '';
  const element = step ? s('g', {class: `element ${step.verb}`},
    s('rect', {x: width / 2 - 16 - 4.5 * name.length, y: 4, width: 32 + 9 * name.length, height: 28, rx: 14}),
    s('text', {x: width / 2, y: 23, 'text-anchor': 'middle'}, name)) : null;
  const culprits = setters.map((who, i) => s('g', {class: 'culprit'},
    step.probes.filter((probe) => probe.setters.includes(who)).map((probe) =>
      s('path', {d: `M${sx(i)},${bottom + 56} C${sx(i)},${bottom + 24} ${px(probe.place)},${bottom + 34} ${px(probe.place)},${py(probe.place) + layout.size + 2}`})),
    s('rect', {x: sx(i) - 12 - 4.5 * Math.min(12, who.length), y: bottom + 56, width: 24 + 9 * Math.min(12, who.length), height: 28, rx: 14}),
    s('text', {x: sx(i), y: bottom + 75, 'text-anchor': 'middle'}, shorten(who, 12))));
  const folded = trace.folded ? foldedArray(trace, index, done, cells, width, height, px, layout.rows === 1 ? bottom : null) : null;
  const set = cells.flatMap((value, place) => (value ? [place] : []));
  return svg(width, height + (folded?.height ?? 0), {class: `array${layout.wide < 26 ? ' small' : ''}`, 'data-columns': layout.columns,
    'aria-label': t(trace.largest > 1 ? 'counters_above' : 'bits_set', {list: set.slice(0, 200).join(' ') || t('none')}),
    'data-set': set.join(' ')},
  culprits, numbers, all, functions, arrows, element, folded?.element);
}

/** The folded filter, below the whole one. A line from each bit of a single row, which ends at `bottom`, to its union. */
function foldedArray(trace, index, done, cells, width, above, px, bottom) {
  const before = trace.steps[index - 1]?.folded?.set ?? [];
  const set = new Set(done ? trace.steps[index]?.folded?.set ?? before : before);
  const {places, factor, adjacent} = trace.folded;
  const layout = grid(places, width);
  const top = above + (bottom === null ? 24 : 56);
  const end = top + layout.rows * layout.height;
  const x = (place) => layout.x(place) + layout.wide / 2;
  const lines = bottom === null || !done ? [] : cells.flatMap((value, place) => (value
    ? [s('path', {class: 'thread', d: `M${px(place)},${bottom} L${x(adjacent ? Math.floor(place / factor) : place % places)},${top - 2}`})] : []));
  return {height: end + 26 - above, element: s('g', {class: 'folded', 'data-set': [...set].join(' ')},
    s('text', {x: layout.left, y: end + 16, style: 'font-weight:600'}, t('folded_by', {c: factor, m: places})), lines,
    Array.from({length: places}, (_, place) => s('g', {class: `cell${set.has(place) ? ' set' : ''}`},
      s('title', {}, `${t('bit')} ${place}: ${set.has(place) ? 1 : 0}`),
      s('rect', {x: layout.x(place), y: top + layout.y(place), width: layout.wide, height: layout.size, rx: layout.size / 8}),
      layout.label ? [s('text', {x: x(place), y: top + layout.y(place) - 4, class: 'index', 'text-anchor': 'middle'}, place),
        s('text', {x: x(place), y: top + layout.y(place) + layout.size / 2 + 6, class: 'value', 'text-anchor': 'middle'}, set.has(place) ? 1 : 0)] : null)))};
}

export const shorten = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

function remark(trace, step, probe) {
  const cell = t(trace.largest > 1 ? 'counter' : 'bit');
  if (step.verb === 'check') {
    if (probe.before === 0) return t('is_zero', {cell, place: probe.place});
    const who = probe.setters.length ? t('set_by', {list: listed(probe.setters)})
      : t(trace.largest > 1 && probe.before === trace.largest ? 'set_by_none_stuck' : 'set_by_none');
    return t('is_set', {cell, place: probe.place, value: probe.before, who});
  }
  if (probe.before === probe.after) {
    return trace.largest > 1 && probe.after === trace.largest
      ? t('sticks', {cell, place: probe.place, value: probe.after})
      : t('stays', {cell, place: probe.place, value: probe.after});
  }
  return t('changes', {cell, place: probe.place, before: probe.before, after: probe.after})
    + (trace.largest > 1 && probe.after === trace.largest ? ` ${t('sticks_now')}` : '');
}

export const arrayScene = {
  question: ({kind, m, formulas, family, k, counterBits, fold}) => ({
    kind, m: Number(m), counter_bits: Number(counterBits), ...(folds({kind, family}) ? {fold: Number(fold)} : {}),
    ...(family === 'formulas' ? {formulas: formulas.split(';').filter((f) => f.trim())} : {family, hashes: Number(k)}),
  }),
  erases: (kind) => kind === 'counting_bloom',
  phases: (step) => step.probes.length + 1,
  settings({field, select, state, change}) {
    return [
      field('m', t(state.kind === 'bloom' ? 'bits_m' : 'counters_m'), 1, 4096),
      select('family', t('functions'), FAMILIES, (name) => t(`family_${name}`)),
      state.family === 'formulas'
        ? h('label', {for: 'formulas'}, t('formulas'),
          h('textarea', {id: 'formulas', rows: '3', spellcheck: 'false', autocapitalize: 'none',
            onchange: (event) => change({formulas: event.target.value.split(/[;\n]/).map((f) => f.trim()).filter(Boolean).join(';')}),
            value: state.formulas.split(';').join('\n')}))
        : field('k', t('functions_k'), 1, 16),
      folds(state) ? select('fold', t('fold_by'), [...new Set([...factors(state.m), state.fold])]) : null,
      state.kind === 'counting_bloom' ? select('counterBits', t('counter_bits'), ['4', '8', '16']) : null,
    ];
  },
  draw(frame) {
    const {trace, index, phase, done} = frame;
    const step = trace.steps[index];
    const probes = step ? step.probes.slice(0, done ? undefined : phase) : [];
    const lines = step
      ? h('ol', {class: 'workings'}, probes.map((probe, i) =>
        h('li', {class: !done && i === phase - 1 ? 'now' : null},
          h('span', {class: `dot f${i % 8}`, 'aria-hidden': 'true'}),
          h('code', {}, `h${probe.function}(${shorten(step.element, 20)}) = ${probe.working}`), ': ',
          h('span', {}, remark(trace, step, probe)))))
      : h('ul', {class: 'definition'}, trace.definition.map((line) => h('li', {}, h('code', {}, line))));
    return {
      picture: picture(frame),
      telling: [trace.folded ? h('p', {id: 'fold'}, t(trace.folded.adjacent ? 'fold_adjacent' : 'fold_apart', {c: trace.folded.factor, m: trace.folded.places}),
        done && step?.verb === 'check' && !step.error ? ` ${t('folded_says', {answer: t(step.folded.found ? 'says_maybe' : 'says_no')})}` : null) : null,
      step?.preface ? h('p', {class: 'preface'}, h('code', {}, step.preface)) : null, lines],
    };
  },
  figures(trace, step) {
    const now = step ?? {n: 0, fill: 0, rate: 0, classic_rate: 0};
    return [
      [t('figure_n'), number(now.n)],
      [t('figure_fill'), `${number(Math.round(now.fill * trace.places), 6)} / ${number(trace.places, 6)} = ${rate(now.fill)}`],
      [t('figure_rate'), rate(now.rate)],
      [t('figure_classic'), rate(now.classic_rate)],
      ...(trace.folded ? [[t('figure_folded'), now.folded ? rate(now.folded.rate) : rate(0)]] : []),
      [t('figure_best_k'), now.best_k ? number(now.best_k) : '–'],
    ];
  },
};
