// Plots: lines of the theory, dots that the library measures here.

import * as Plot from '@observablehq/plot';

import {h, s, show} from './dom.js';
import {kindName, number, rate, t} from './i18n.js';
import COLOURS from './kind-colours.json';
import {set, state} from './state.js';
import {ask} from './wasm.js';

// Lines differ by dash, name and sign as well as by colour. A kind has the same colour in the charts of docs/.
const KINDS = [
  ['bloom', null, 'circle'], ['blocked_bloom', '8 3', 'square'], ['counting_bloom', '2 3', 'diamond'],
  ['cuckoo', '10 3 2 3', 'triangle'], ['vector_quotient', '5 5', 'star'], ['expandable', '12 4', 'cross'],
  ['scalable_bloom', '3 2', 'wye'], ['fuse', '14 3 3 3', 'circle'], ['ribbon', '1 3', 'square'],
];
const STYLES = new Map(KINDS.map(([kind, ...rest]) => [kind, [`var(--${kind})`, ...rest]]));
for (const theme of ['light', 'dark']) {
  const colours = KINDS.map(([kind]) => `--${kind}: ${COLOURS[kind][theme]};`).join(' ');
  document.head.append(h('style', {}, `:root[data-theme="${theme}"] { ${colours} }`));
}
const GROWING = ['expandable', 'scalable_bloom'];
const SPACE_RATES = Array.from({length: 31}, (_, i) => 10 ** (-0.5 - i * 0.125));
const MEASURED_RATES = [0.1, 0.01, 0.001];
const NON_MEMBERS = 100000;  // queried for each dot
const NAME = 15;  // height of a line's name

const parseCount = (text, otherwise, least, most) => {
  const made = ask({ask: 'plan', capacity: text.trim(), fpr: '1%'});
  const n = made.error ? otherwise : made.kinds.find((row) => row.capacity)?.capacity ?? otherwise;
  return Math.min(most, Math.max(least, n));
};

/** A line of the theory for a kind, with its name at its end. */
const lineOf = (kind, points) => ({kind, points, name: kindName(kind), stroke: STYLES.get(kind)[0], dash: STYLES.get(kind)[1], width: 2});

function spacePlot(n) {
  const lines = KINDS.map(([kind]) => lineOf(kind, ask({ask: 'curve', over: 'space', kind, capacity: n, rates: SPACE_RATES}).points ?? []));
  return {
    title: t('plot_space_title'), x: t('axis_bits'), keys: number(n, 9),
    lines: [{points: SPACE_RATES.map((y) => ({x: Math.log2(1 / y), y})), name: t('line_bound'), stroke: 'var(--ink)', width: 3.5}, ...lines],
    jobs: KINDS.flatMap(([kind]) => MEASURED_RATES.map((fpr) => ({kind, capacity: n, fpr, keys: n}))),
    place: (job, dot) => {
      const near = lines.find(({kind}) => kind === job.kind).points;
      const point = near.reduce((best, p) => (Math.abs(Math.log(p.y / job.fpr)) < Math.abs(Math.log(best.y / job.fpr)) ? p : best), near[0]);
      return {x: dot.bits_per_key, y: dot.rate, theory: point?.y ?? job.fpr};
    },
    domain: [0, 32], names: 25,
  };
}

function hashesPlot(n) {
  const fpr = state.fpr.trim() || '1%';
  const made = ask({ask: 'plan', capacity: String(n), fpr});
  const bloom = made.kinds?.find((row) => row.kind === 'bloom' && !row.refused);
  const bits = bloom?.bits ?? 10 * n;
  const curve = ask({ask: 'curve', over: 'hashes', kind: 'bloom', capacity: n, bits});
  return {
    title: t('plot_hashes_title'), x: t('axis_k'), keys: number(n, 9),
    lines: [lineOf('bloom', curve.points),
      {points: curve.points.map(({x, classic}) => ({x, y: classic})), name: t('line_classic'), stroke: 'var(--soft)', dash: '2 3', width: 1.5}],
    mark: {x: curve.best, text: t('line_best', {k: number(curve.best), rate: rate(curve.ideal)})},
    jobs: curve.points.filter((p) => p.y > 2e-4).map((p) => ({kind: 'bloom', capacity: n, bits, hashes: p.x, keys: n, k: p.x})),
    place: (job, dot) => ({x: job.k, y: dot.rate, theory: curve.points[job.k - 1].y}),
    domain: [0, 24.5], names: 24.5,
  };
}

function keysPlot(n) {
  const fpr = 0.01;
  const kinds = ['bloom', 'blocked_bloom', ...GROWING];
  const lines = kinds.map((kind) => lineOf(kind, ask({ask: 'curve', over: 'keys', kind, capacity: n, fpr}).points ?? []));
  return {
    title: t('plot_keys_title'), x: t('axis_n'), keys: `${number(n / 2, 9)}–${number(3 * n, 9)}`, lines, mark: {x: n, text: t('line_capacity')},
    jobs: kinds.flatMap((kind) => [0.5, 1, 1.5, 2, 3].map((share) => ({kind, capacity: n, fpr, keys: Math.round(n * share)}))),
    place: (job, dot) => {
      const line = lines.find(({kind}) => kind === job.kind).points;
      return {x: dot.keys, y: dot.rate, theory: line.find((p) => p.x === job.keys)?.y ?? fpr};
    },
    domain: [0, 3.1 * n], names: 3.1 * n,
  };
}

const PLOTS = {space: spacePlot, hashes: hashesPlot, keys: keysPlot};

/** The lines' names in a column at `left`, each tied to the end of its line. Of lines that end at the
    same height the rightmost is named first, so that no tie crosses another. */
function namesOf(lines, left, xOf, yOf, [x0, x1], low) {
  const ends = lines.map((line) => {
    const last = line.points.filter(({x, y}) => x >= x0 && x <= x1 && y >= low).at(-1);
    return last && {...line, x: xOf(last.x), y: yOf(last.y)};
  }).filter(Boolean).sort((a, b) => (Math.abs(a.x - b.x) > 2 ? b.x - a.x : a.y - b.y));
  let below = -Infinity;
  return s('g', {class: 'names'}, ends.map(({x, y, name, stroke}) => {
    // A line that goes on to the right of the column has its name under its end.
    const beyond = x > left;
    below = Math.max(beyond ? y + NAME : y, below + NAME);
    return [s('path', {d: beyond ? '' : left - x < 30 ? `M${x},${y}L${left - 3},${below}` : `M${x},${y}V${below}H${left - 3}`, style: `stroke:${stroke}`}),
      s('text', {x: beyond ? Math.max(left, x - 7.5 * name.length) : left, y: below + 4, 'text-anchor': 'start', style: `fill:${stroke}`}, name)];
  }));
}

export function plotsView(view) {
  let run = 0;
  const chart = h('figure', {class: 'chart', id: 'chart'});
  const status = h('p', {class: 'muted', id: 'measured', 'aria-live': 'polite'});
  const numbers = h('details', {id: 'numbers'});

  function draw(plot, dots) {
    const width = Math.max(320, Math.min(1080, chart.clientWidth || 800));
    const ys = plot.lines.flatMap(({points}) => points.map((p) => p.y)).filter((y) => y > 0);
    const low = Math.max(1e-5, Math.min(...ys) / 1.5);
    const high = Math.min(1, Math.max(...ys) * 1.5);
    // Decades; in a short range also 2 and 5 times them.
    const steps = high / low < 500 ? [1, 2, 5] : [1];
    const levels = Array.from({length: 7}, (_, i) => 10 ** (i - 6)).flatMap((ten) => steps.map((step) => step * ten))
      .filter((y) => y >= low && y <= high);
    // Names need room beside the lines or, where lines end at the bottom, below them.
    const widest = 7.5 * Math.max(...plot.lines.map(({name}) => name.length)) + 6;
    const marginLeft = 60;
    const inside = Math.min(width - marginLeft - 16, (width - marginLeft - widest) * plot.domain[1] / plot.names);
    const bottoms = plot.names < plot.domain[1] ? NAME * (plot.lines.length - 2) : 0;
    const height = Math.round(Math.min(520, Math.max(340, width * 0.5))) + bottoms / 2;
    const range = [low * (low / high) ** (bottoms / (height - 72 - bottoms)), high];
    const ticks = width < 600 ? 4 : 8;
    const marks = [Plot.gridX({ticks, stroke: 'var(--line)', strokeOpacity: 1}), Plot.gridY(levels, {stroke: 'var(--line)', strokeOpacity: 1}),
      ...plot.lines.map(({points, stroke, dash, width: strokeWidth}) => Plot.line(points, {x: 'x', y: 'y', stroke, strokeWidth, strokeDasharray: dash, clip: true}))];
    if (plot.mark) marks.push(Plot.ruleX([plot.mark.x], {stroke: 'var(--soft)', strokeDasharray: '6 4'}),
      Plot.text([plot.mark], {x: 'x', frameAnchor: 'bottom', dx: 5, dy: -8, textAnchor: 'start', text: 'text', fill: 'var(--ink)', stroke: 'var(--card)', strokeWidth: 4}));
    for (const {kind} of plot.lines) {
      if (!kind) continue;
      const [fill, , symbol] = STYLES.get(kind);
      marks.push(Plot.dot(dots.filter((dot) => dot.kind === kind && dot.y > 0), {x: 'x', y: 'y', fill, symbol, r: 4.5, stroke: 'var(--card)', clip: true,
        title: (dot) => `${kindName(kind)}: ${number(dot.x)} – ${rate(dot.y)}`}));
    }
    const svg = Plot.plot({
      width, height, marginLeft, marginRight: width - marginLeft - inside, marginBottom: 44, marginTop: 28, style: 'background:transparent;color:var(--ink)',
      x: {label: `${plot.x} →`, labelAnchor: 'left', domain: plot.domain, labelArrow: 'none', tickFormat: (x) => number(x, 6), ticks},
      y: {type: 'log', label: `↑ ${t('axis_rate')}`, labelArrow: 'none', domain: range, ticks: levels, tickFormat: (y) => rate(y, 1)},
      marks, ariaLabel: plot.title,
    });
    svg.setAttribute('role', 'img');
    const [x, y] = [svg.scale('x').apply, svg.scale('y').apply];
    svg.append(namesOf(plot.lines, x(plot.names) + 8, x, y, plot.domain, range[0]));
    show(chart, h('h2', {}, plot.title), svg);
  }

  function drawNumbers(plot, dots) {
    show(numbers, h('summary', {}, t('plot_data')), h('div', {class: 'scroll'}, h('table', {},
      h('thead', {}, h('tr', {}, [t('series'), plot.x, t('theory'), t('measured_col')].map((name) => h('th', {scope: 'col'}, name)))),
      h('tbody', {}, dots.map((dot) => h('tr', {'data-dot': dot.kind, 'data-theory': dot.theory, 'data-measured': dot.y, 'data-others': NON_MEMBERS},
        h('td', {}, kindName(dot.kind)), h('td', {}, number(dot.x, 4)), h('td', {}, rate(dot.theory)), h('td', {}, rate(dot.y))))))));
  }

  function begin() {
    const thisRun = ++run;
    const n = parseCount(state.plotN, 10000, 100, 100000);
    const plot = (PLOTS[state.plot] ?? spacePlot)(n);
    const dots = [];
    draw(plot, dots);
    // One measurement at a time, so that the page answers in between.
    const next = (i) => {
      if (thisRun !== run) return;
      if (i === plot.jobs.length) {
        status.textContent = [t('measured', {n: dots.length}), t('dots_measured', {n: plot.keys, q: number(NON_MEMBERS, 9)}),
          plot.lines.some(({kind}) => GROWING.includes(kind)) ? t('dots_growing') : ''].join(' ');
        status.dataset.done = 'true';
        drawNumbers(plot, dots);
        return;
      }
      const job = plot.jobs[i];
      const dot = ask({ask: 'measure', ...job, non_members: NON_MEMBERS});
      if (!dot.error && dot.keys === job.keys) dots.push({kind: job.kind, ...plot.place(job, dot)});
      status.textContent = t('measuring', {done: i + 1, of: plot.jobs.length});
      if (i % 3 === 2 || i + 1 === plot.jobs.length) draw(plot, dots);
      setTimeout(next, 0, i + 1);
    };
    status.dataset.done = 'false';
    setTimeout(next, 30, 0);
  }

  const size = h('label', {for: 'plot-n', style: 'max-width:220px;margin-bottom:12px'}, t('plot_capacity'),
    h('input', {type: 'text', id: 'plot-n', value: state.plotN, onchange: (event) => { set({plotN: event.target.value}); begin(); }}));
  const choices = h('div', {class: 'segmented', role: 'group', 'aria-label': t('plots')}, Object.keys(PLOTS).map((name) =>
    h('button', {type: 'button', id: `plot-${name}`, 'aria-pressed': String(state.plot === name), onclick: (event) => {
      set({plot: name});
      for (const each of choices.children) each.setAttribute('aria-pressed', String(each === event.currentTarget));
      begin();
    }}, t(`plot_${name}`))));
  show(view, h('section', {class: 'card', 'aria-label': t('plots')}, choices, size, chart, status, numbers));
  begin();
  return () => { ++run; };
}
