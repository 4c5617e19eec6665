// The expandable filter: a hash in its three parts, the segments, and the block of cells that a key's is in.

import {h, s, svg} from './dom.js';
import {number, rate, t} from './i18n.js';

const BLOCK = 32;
const HIGH = 17;

/** The hash's bits in the order of their use: the lowest first. */
function hashRow(hash, width, top) {
  const parts = ['segment', 'cell', 'rest'].map((name) => [name, hash[name]]).filter(([, bits]) => bits);
  const bits = parts.reduce((sum, [, text]) => sum + text.length, 0);
  const size = Math.min(20, (width - 90) / bits);
  let x = 1;
  return s('g', {class: 'hash'}, parts.map(([name, text]) => {
    const from = x;
    const boxes = [...text].map((bit) => {
      x += size;
      return [s('rect', {x: x - size, y: top, width: size - 1, height: 22, rx: 2}),
        s('text', {x: x - size / 2 - 0.5, y: top + 16, 'text-anchor': 'middle', class: 'bit', style: `font-size:${Math.min(13, size)}px`}, bit)];
    });
    // A name may be longer than its few bits.
    x = Math.max(x, from + 8.5 * t(`part_${name}`).length) + 10;
    return s('g', {class: `part ${name}`}, boxes, s('text', {x: from, y: top + 38, class: 'name'}, t(`part_${name}`)));
  }));
}

/** A bar for each segment. A full bar is a segment that the next insert splits or doubles. */
function segmentRows(now, chosen, split, width, top) {
  const most = now.segments.length === 1 ? now.most : 1.5 * now.cells;
  return now.segments.map((segment, i) => {
    const y = top + i * 28;
    const label = t(width < 480 && now.segments.length > 1 ? 'segment_short' : 'segment_name', {i, n: number(segment.entries, 9), r: segment.remainder_bits});
    return s('g', {class: `segment${i === chosen ? ' chosen' : ''}${split.includes(i) ? ' changed' : ''}`, 'data-segment': i, 'data-entries': segment.entries},
      s('rect', {class: 'frame', x: 1, y, width: width - 2, height: 23, rx: 4}),
      s('rect', {class: 'fill', x: 2, y: y + 1, width: Math.max(0, (width - 4) * Math.min(1, segment.entries / most)), height: 21, rx: 3}),
      s('text', {x: 8, y: y + 16}, label),
      now.segments.length > 1 && i === now.next ? s('text', {x: width - 8, y: y + 16, 'text-anchor': 'end', class: 'next'}, t('segment_next')) : null);
  });
}

/** The block's cells, each with the remainders of its entries. */
function cellGrid(block, {cell, remainder, inserted}, width, top) {
  const longest = Math.max(6, ...block.cells.flat().map((entry) => entry.length));
  const least = Math.max(62, longest * 7.4 + 10);
  const columns = [16, 8, 4, 2].find((n) => n * least <= width) ?? 2;
  const w = width / columns;
  const tops = [top];
  for (let first = 0; first < BLOCK; first += columns) {
    const lines = Math.max(2, ...block.cells.slice(first, first + columns).map((entries) => entries.length));
    tops.push(tops.at(-1) + 18 + lines * HIGH + 8);
  }
  const cells = block.cells.map((entries, i) => {
    const at = block.first + i;
    const chosen = at === cell;
    const x = (i % columns) * w;
    const row = Math.floor(i / columns);
    const y = tops[row];
    return s('g', {class: `qcell${chosen ? ' chosen' : ''}`, 'data-cell': at, 'data-entries': entries.join(' ')},
      s('rect', {x: x + 1, y, width: w - 4, height: tops[row + 1] - y - 4, rx: 4}),
      s('text', {x: x + 6, y: y + 13, class: 'index'}, at),
      entries.map((entry, line) => s('text', {x: x + 6, y: y + 14 + (line + 1) * HIGH - 2,
        class: `entry${chosen && remainder?.startsWith(entry) ? ' hit' : ''}${chosen && inserted && line === 0 ? ' changed' : ''}`},
      entry || '∗')));
  });
  return {height: tops.at(-1) - top, element: s('g', {class: 'cells'}, cells)};
}

function picture({trace, index, phase, width, done}) {
  const step = trace.steps[index];
  const placed = step && !done && phase === 2;  // grows after that
  const now = !step ? trace.empty : done ? step : step.before;
  const growth = done ? step?.growth : null;
  const at = done && step ? step.after : step;
  let top = 2;
  const parts = [];
  const put = (element, height) => { parts.push(element); top += height; };
  const title = (text) => put(s('text', {x: 1, y: top + 13, class: 'caption'}, text), 20);
  if (step) put(hashRow(at.hash, width, top), 50);
  put(segmentRows(now, at?.segment, growth?.into ? [growth.split, growth.into] : [], width, top), now.segments.length * 28 + 6);
  const blocks = growth?.halves ?? [step ? (done ? step.after.block : step.before.block) : trace.empty.block];
  for (const [half, block] of blocks.entries()) {
    const last = block.first + BLOCK - 1;
    title(growth?.halves ? t('cells_half', {a: block.first, z: last, bit: half})
      : t('cells_name', {i: block.segment, a: block.first, z: last, n: number(now.cells, 9)}));
    // After growth the cell's number has taken a bit of the remainder, so that entries are not compared.
    const drawn = placed && step.entry !== undefined
      ? {...block, cells: block.cells.map((entries, i) => (block.first + i === step.cell ? [step.entry, ...entries] : entries))} : block;
    const remainder = growth ? undefined : step?.hash.rest;
    const grid = cellGrid(drawn, {cell: at?.cell, remainder, inserted: step?.entry !== undefined && (placed || (done && !growth))}, width, top);
    put(grid.element, grid.height + 6);
  }
  const entries = now.segments.reduce((sum, segment) => sum + segment.entries, 0);
  return svg(width, top, {class: 'segments', 'data-segments': now.segments.length,
    'data-cells': now.cells, 'aria-label': `${t('figure_entries')}: ${number(entries, 9)}; ${t('figure_segments')}: ${now.segments.length}`}, parts);
}

function workings({step, done, phase}) {
  const lines = [t(step.hash.segment ? 'segments_place' : 'segments_only', {i: step.segment, x: step.cell, r: step.hash.rest})];
  if (phase > 1) {
    lines.push(t(step.matching ? 'segments_matching' : 'segments_none', {n: number(step.matching), i: step.segment, x: step.cell}));
    if (step.entry !== undefined) lines.push(t('segments_entry', {e: step.entry, r: step.entry.length}));
    if (step.counted && step.verb === 'insert') lines.push(t('segments_counted'));
    if (step.verb === 'erase' && step.verdict.endsWith('erased')) lines.push(t(step.counted ? 'segments_uncounted' : 'segments_longest'));
  }
  if (done && step.growth) {
    const {most, cells, split, into} = step.growth;
    if (cells) lines.push(t('segments_doubled', {most: number(most, 9), c: number(cells, 9), d: number(2 * cells, 9)}));
    if (into) lines.push(t('segments_split', {most: number(most, 9), s: split, i: into}));
    lines.push(t('segments_given'), t('segments_newer', {r: step.segments[step.after.segment].remainder_bits, i: step.after.segment, x: step.after.cell}));
  }
  return lines;
}

export const segmentsScene = {
  question: ({kind, crowd, rate: wanted}) => ({kind, crowd: Number(crowd), rate: wanted}),
  erases: () => true,
  phases: (step) => (step.growth ? 3 : 2),
  settings: ({field}) => [field('crowd', t('crowd'), 0, 50000), field('rate', t('wanted_rate'))],
  draw(frame) {
    const step = frame.trace.steps[frame.index];
    if (!step) return {picture: picture(frame), telling: h('p', {}, t('segments_intro'))};
    return {picture: picture(frame), telling: h('ul', {class: 'workings'}, workings({step, ...frame}).map((line) => h('li', {}, line)))};
  },
  figures(trace, step) {
    const now = step ?? trace.empty;
    const entries = now.segments.reduce((sum, segment) => sum + segment.entries, 0);
    return [[t('figure_n'), number(now.n, 9)], [t('figure_entries'), `${number(entries, 9)} / ${number(now.most, 9)}`],
      [t('figure_segments'), number(now.segments.length)], [t('figure_generation'), number(now.generation)],
      [t('figure_rate'), rate(now.rate)], [t('wanted_rate'), rate(trace.wanted)]];
  },
};
