// Plots: lines of the theory, dots that the library measures here.

import * as Plot from '@observablehq/plot';

import {h, s, show} from './dom.js';
import {number, rate, t} from './i18n.js';
import {set, state} from './state.js';
import {ask} from './wasm.js';

// Told apart by dash and sign as well as by colour.
const KINDS = [
  ['bloom', 'var(--f0)', null, 'circle'], ['blocked_bloom', 'var(--f1)', '8 3', 'square'],
  ['counting_bloom', 'var(--f3)', '2 3', 'diamond'], ['cuckoo', 'var(--f2)', '10 3 2 3', 'triangle'],
  ['vector_quotient', 'var(--f4)', '5 5', 'star'], ['expandable', 'var(--f5)', '12 4', 'cross'],
  ['scalable_bloom', 'var(--f6)', '3 2', 'wye'], ['fuse', 'var(--f7)', '14 3 3 3', 'circle'],
  ['ribbon', 'var(--ink)', '1 3', 'square'],
];
const GROWING = ['expandable', 'scalable_bloom'];
const SPACE_RATES = Array.from({length: 31}, (_, i) => 10 ** (-0.5 - i * 0.125));
const MEASURED_RATES = [0.1, 0.01, 0.001];

const whole = (text, otherwise, least, most) => {
  const made = ask({ask: 'plan', capacity: text.trim(), fpr: '1%'});
  const n = made.error ? otherwise : made.kinds.find((row) => row.capacity)?.capacity ?? otherwise;
  return Math.min(most, Math.max(least, n));
};

function spacePlot(n) {
  const lines = KINDS.map(([kind]) => [kind, ask({ask: 'curve', over: 'space', kind, capacity: n, rates: SPACE_RATES}).points ?? []]);
  return {
    title: t('plot_space_title'), x: t('axis_bits'), keys: n, strangers: 100000, lines,
    bound: SPACE_RATES.map((y) => ({x: Math.log2(1 / y), y})),
    jobs: KINDS.flatMap(([kind]) => MEASURED_RATES.map((fpr) => ({kind, capacity: n, fpr, keys: n, strangers: 100000}))),
    place: (job, dot) => {
      const near = lines.find(([kind]) => kind === job.kind)[1];
      const point = near.reduce((best, p) => (Math.abs(Math.log(p.y / job.fpr)) < Math.abs(Math.log(best.y / job.fpr)) ? p : best), near[0]);
      return {x: dot.bits_per_key, y: dot.rate, theory: point?.y ?? job.fpr};
    },
    domain: [0, 32],
  };
}

function hashesPlot(n) {
  const fpr = state.fpr.trim() || '1%';
  const made = ask({ask: 'plan', capacity: String(n), fpr});
  const bloom = made.kinds?.find((row) => row.kind === 'bloom' && !row.refused);
  const bits = bloom?.bits ?? 10 * n;
  const curve = ask({ask: 'curve', over: 'hashes', kind: 'bloom', capacity: n, bits});
  return {
    title: t('plot_hashes_title'), x: t('axis_k'), keys: n, strangers: 100000, lines: [['bloom', curve.points]], bound: null,
    best: {x: curve.best, y: curve.ideal, text: t('line_best', {k: number(curve.best), rate: rate(curve.ideal)})},
    jobs: curve.points.filter((p) => p.y > 2e-4).map((p) => ({kind: 'bloom', capacity: n, bits, hashes: p.x, keys: n, strangers: 100000, k: p.x})),
    place: (job, dot) => ({x: job.k, y: dot.rate, theory: curve.points[job.k - 1].y}),
    domain: [0, 25],
  };
}

function keysPlot(n) {
  const fpr = 0.01;
  const kinds = ['bloom', 'blocked_bloom', ...GROWING];
  const lines = kinds.map((kind) => [kind, ask({ask: 'curve', over: 'keys', kind, capacity: n, fpr}).points ?? []]);
  return {
    title: t('plot_keys_title'), x: t('axis_n'), keys: n, strangers: 100000, lines, bound: null, capacity: n,
    jobs: kinds.flatMap((kind) => [0.5, 1, 1.5, 2, 3].map((share) => ({kind, capacity: n, fpr, keys: Math.round(n * share), strangers: 100000}))),
    place: (job, dot) => {
      const line = lines.find(([kind]) => kind === job.kind)[1];
      return {x: dot.keys, y: dot.rate, theory: line.find((p) => p.x === job.keys)?.y ?? fpr};
    },
    domain: [0, 3.1 * n],
  };
}

const PLOTS = {space: spacePlot, hashes: hashesPlot, keys: keysPlot};

export function plotsView(view) {
  let round = 0;
  const chart = h('figure', {class: 'chart', id: 'chart'});
  const said = h('p', {class: 'muted', id: 'measured', 'aria-live': 'polite'});
  const legend = h('ul', {class: 'legend'});
  const numbers = h('details', {id: 'numbers'});

  function draw(plot, dots) {
    const width = Math.max(320, Math.min(1080, chart.clientWidth || 800));
    const style = new Map(KINDS.map(([kind, ...rest]) => [kind, rest]));
    const ys = plot.lines.flatMap(([, points]) => points.map((p) => p.y)).filter((y) => y > 0);
    const range = [Math.max(1e-5, Math.min(...ys) / 1.5), Math.min(1, Math.max(...ys) * 1.5)];
    // Decades; in a range of few also 2 and 5 times them.
    const steps = range[1] / range[0] < 500 ? [1, 2, 5] : [1];
    const levels = Array.from({length: 7}, (_, i) => 10 ** (i - 6)).flatMap((ten) => steps.map((step) => step * ten))
      .filter((y) => y >= range[0] && y <= range[1]);
    const marks = [Plot.gridX({stroke: 'var(--line)', strokeOpacity: 1}), Plot.gridY(levels, {stroke: 'var(--line)', strokeOpacity: 1})];
    if (plot.bound) marks.push(Plot.line(plot.bound, {x: 'x', y: 'y', stroke: 'var(--ink)', strokeWidth: 3}));
    for (const [kind, points] of plot.lines) {
      const [stroke, dash] = style.get(kind);
      marks.push(Plot.line(points, {x: 'x', y: 'y', stroke, strokeWidth: 2, strokeDasharray: dash, clip: true}));
      if (points[0]?.classic !== undefined) marks.push(Plot.line(points, {x: 'x', y: 'classic', stroke: 'var(--soft)', strokeDasharray: '2 3'}));
    }
    if (plot.best) marks.push(Plot.ruleX([plot.best.x], {stroke: 'var(--f2)', strokeDasharray: '6 4'}),
      Plot.text([plot.best], {x: 'x', y: 'y', text: 'text', dy: 22, fill: 'var(--ink)', stroke: 'var(--card)', strokeWidth: 5, fontSize: 13}));
    if (plot.capacity) marks.push(Plot.ruleX([plot.capacity], {stroke: 'var(--soft)', strokeDasharray: '6 4'}),
      Plot.text([plot.capacity], {x: (d) => d, frameAnchor: 'bottom', dx: 4, dy: -8, textAnchor: 'start', text: () => t('line_capacity'), fill: 'var(--ink)'}));
    for (const [kind] of plot.lines) {
      const [fill, , symbol] = style.get(kind);
      marks.push(Plot.dot(dots.filter((dot) => dot.kind === kind && dot.y > 0), {x: 'x', y: 'y', fill, symbol, r: 4.5, stroke: 'var(--card)', clip: true,
        title: (dot) => `${t(`kind_${kind}`)}: ${number(dot.x)} – ${rate(dot.y)}`}));
    }
    const svg = Plot.plot({
      width, height: Math.round(Math.min(520, Math.max(340, width * 0.55))), marginLeft: 62, marginBottom: 44, marginTop: 28, style: 'background:transparent;color:var(--ink)',
      x: {label: `${plot.x} →`, domain: plot.domain, labelArrow: 'none', tickFormat: (x) => number(x, 6), ticks: width < 500 ? 5 : 9},
      y: {type: 'log', label: `↑ ${t('axis_rate')}`, labelArrow: 'none', domain: range,
        ticks: levels, tickFormat: rate},
      marks, ariaLabel: plot.title,
    });
    svg.setAttribute('role', 'img');
    show(chart, h('h2', {}, plot.title), svg);
    show(legend,
      plot.lines.map(([kind]) => h('li', {}, s('svg', {viewBox: '0 0 34 14', 'aria-hidden': 'true'},
        s('line', {x1: 0, x2: 34, y1: 7, y2: 7, style: `stroke:${style.get(kind)[0]};stroke-width:2.5`, 'stroke-dasharray': style.get(kind)[1]})), t(`kind_${kind}`))),
      plot.bound ? h('li', {}, s('svg', {viewBox: '0 0 34 14', 'aria-hidden': 'true'}, s('line', {x1: 0, x2: 34, y1: 7, y2: 7, style: 'stroke:var(--ink);stroke-width:3.5'})), t('line_bound')) : null,
      state.plot === 'hashes' ? h('li', {}, s('svg', {viewBox: '0 0 34 14', 'aria-hidden': 'true'}, s('line', {x1: 0, x2: 34, y1: 7, y2: 7, style: 'stroke:var(--soft);stroke-width:2', 'stroke-dasharray': '2 3'})), t('line_classic')) : null);
  }

  function tell(plot, dots) {
    show(numbers, h('summary', {}, t('plot_data')), h('div', {class: 'scroll'}, h('table', {},
      h('thead', {}, h('tr', {}, [t('series'), plot.x, t('theory'), t('measured_col')].map((name) => h('th', {scope: 'col'}, name)))),
      h('tbody', {}, dots.map((dot) => h('tr', {'data-dot': dot.kind, 'data-theory': dot.theory, 'data-measured': dot.y, 'data-strangers': dot.strangers},
        h('td', {}, t(`kind_${dot.kind}`)), h('td', {}, number(dot.x, 4)), h('td', {}, rate(dot.theory)), h('td', {}, rate(dot.y))))))));
  }

  function begin() {
    const mine = ++round;
    const n = whole(state.plotN, 10000, 100, 100000);
    const plot = (PLOTS[state.plot] ?? spacePlot)(n);
    const dots = [];
    draw(plot, dots);
    // One measurement at a time, so that the page answers in between.
    const next = (i) => {
      if (mine !== round) return;
      if (i === plot.jobs.length) {
        said.textContent = [t('measured', {n: dots.length}), t('dots_measured', {n: number(plot.keys, 9), q: number(plot.strangers, 9)}),
          plot.lines.some(([kind]) => GROWING.includes(kind)) ? t('dots_growing') : ''].join(' ');
        said.dataset.done = 'true';
        tell(plot, dots);
        return;
      }
      const job = plot.jobs[i];
      const dot = ask({ask: 'measure', ...job});
      if (!dot.error && dot.keys === job.keys) dots.push({kind: job.kind, strangers: job.strangers, ...plot.place(job, dot)});
      said.textContent = t('measuring', {done: i + 1, of: plot.jobs.length});
      if (i % 3 === 2 || i + 1 === plot.jobs.length) draw(plot, dots);
      setTimeout(next, 0, i + 1);
    };
    said.dataset.done = 'false';
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
  show(view, h('section', {class: 'card', 'aria-label': t('plots')}, choices, size, chart, legend, said, numbers));
  begin();
  return () => { ++round; };
}
