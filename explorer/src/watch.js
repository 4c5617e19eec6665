// Watch: a small filter, element by element. The library answers the whole walk at once and the page
// shows one frame of it, so that stepping back costs nothing.

import {h, s, show} from './dom.js';
import {kindName, number, translated, t} from './i18n.js';
import {documentAt, paperOf} from './links.js';
import {set, state, stepsOf, textOf} from './state.js';
import {ask} from './wasm.js';
import {arrayScene} from './watch-array.js';
import {blockScene} from './watch-block.js';
import {chainScene} from './watch-chain.js';
import {cuckooScene} from './watch-cuckoo.js';
import {exactScene} from './watch-exact.js';
import {quotientScene} from './watch-quotient.js';
import {segmentsScene} from './watch-segments.js';
import {verdictOf} from './verdict.js';

const SCENES = {
  bloom: arrayScene, counting_bloom: arrayScene, cuckoo: cuckooScene,
  vector_quotient: quotientScene,
  scalable_bloom: chainScene, expandable: segmentsScene, blocked_bloom: blockScene,
  exact: exactScene,
};
const EXAMPLES = {
  lecture: {kind: 'bloom', m: '10', family: 'formulas', formulas: '(x+3)%10;(3*x+1)%10;(x^2+2)%10',
    steps: '+2,+4,+9,?4,?7,?12'},
  words: {kind: 'bloom', m: '32', family: 'double', k: '3', fold: '1',
    steps: '+ant,+bee,+cat,?bee,?dog,?eel,?fox,?gnu'},
  large: {kind: 'bloom', m: '1024', family: 'double', k: '7', fold: '1',
    steps: '+alice,+bob,+carol,+dave,?bob,?mallory'},
  folding: {kind: 'bloom', m: '16', family: 'double', k: '2', fold: '2', steps: '+ant,+bee,+cat,?bee,?dog,?eel'},
  counting: {kind: 'counting_bloom', m: '12', family: 'double', k: '3', counterBits: '4',
    steps: '+ant,+bee,+ant,-ant,?ant,-ant,?ant,?bee'},
  overflow: {kind: 'counting_bloom', m: '4', family: 'formulas', formulas: 'x%4;(x+1)%4', counterBits: '4',
    steps: `${Array(17).fill('+1').join(',')},-1,?1`},
  cuckoo: {kind: 'cuckoo', buckets: '4', slots: '2', fingerprint: '8',
    steps: '+ant,+bee,+cat,+dog,+eel,+fox,+gnu,?ant,-ant,?ant'},
  quotient: {kind: 'vector_quotient', blocks: '4', steps: '+ant,+bee,+cat,+dog,+ant,?ant,-ant,?ant,?yak'},
  growing: {kind: 'scalable_bloom', capacity: '4', rate: '5%',
    steps: '+ant,+bee,+cat,+dog,+eel,+fox,+gnu,+hen,+ibis,?ant,?yak'},
  expanding: {kind: 'expandable', crowd: '62', rate: '20%', steps: '+ant,+bee,+cat,?bee,?yak,?hare,-bee,?bee'},
  splitting: {kind: 'expandable', crowd: '24574', rate: '1%', steps: '+ant,+bee,+cat,?ant,?yak'},
  blocked: {kind: 'blocked_bloom', blocks: '4', steps: '+ant,+bee,+cat,+dog,?ant,?yak'},
  exact: {kind: 'exact', exactSlots: '6', others: 'dog,fox,hen,owl,pig,rat,sow,yak', steps: '+ant,+bee,+cat,?ant,?fox,?yak,?elk'},
};

// Icons are drawn, since not every font has these signs.
const ICONS = {
  reset: 'M14.500 3v10l-5-5zM9 3v10L4 8zM1.500 3H3.500v10H1.500z', back: 'M11.500 2.500v11L3.500 8z', play: 'M4 2.500v11L13 8z', pause: 'M3.500 3h3v10h-3zM9.500 3h3v10h-3z',
  step: 'M3.500 2.500v11L10 8zM11 3h2v10h-2z', end: 'M1.500 3v10l5-5zM7 3v10l5-5zM12.500 3h2v10h-2z',
};
const icon = (name) => s('svg', {viewBox: '0 0 16 16', width: 18, height: 18, 'aria-hidden': 'true', class: 'icon'}, s('path', {d: ICONS[name]}));

export function watchView(view, openTab) {
  let trace;
  let frames = [];
  let timer;
  let playStart = 0;  // the frame from which "play" starts anew at the end
  let note = '';

  const stage = h('div', {class: 'stage', id: 'stage'});
  const telling = h('div', {class: 'telling', id: 'telling', 'aria-live': 'polite'});
  const figures = h('dl', {class: 'figures', id: 'figures'});
  const source = h('p', {class: 'muted', id: 'source'});
  const list = h('ol', {class: 'steps', id: 'steps', 'aria-label': t('steps')});
  const settings = h('div', {class: 'settings'});
  const problem = h('p', {class: 'problem', role: 'alert', id: 'problem'});
  const scene = () => SCENES[state.kind] ?? arrayScene;
  const at = () => (state.at === 'end' ? frames.length - 1
    : Math.min(Math.max(0, Math.trunc(Number(state.at)) || 0), frames.length - 1));

  /** Shows the walk that the change makes, at its end unless `values` names another frame. */
  function change(values) {
    stop();
    playStart = 0;
    note = '';
    set({at: 'end', ...values});
    recompute();
  }

  function recompute() {
    if (!SCENES[state.kind]) set({kind: 'bloom'});
    trace = ask({ask: 'walk', ...scene().question(state), steps: stepsOf(state.steps)});
    show(problem, trace.error ? translated(trace.error) : null);
    frames = [{step: -1, phase: 0}];
    for (const [i, step] of (trace.steps ?? []).entries()) {
      const phases = step.error ? 1 : scene().phases(step);
      for (let phase = 1; phase <= phases; ++phase) frames.push({step: i, phase, last: phase === phases});
    }
    show(source, `${t('paper')} `, paperOf(state.kind));
    buildSettings();
    buildList();
    reserve();
    draw();
  }

  /** Paints the end of each step once, so that no frame is taller than the room that is kept for it. The last
      steps are first, since pictures grow: a long walk ends the painting after 0.3 seconds. */
  function reserve() {
    for (const slot of [stage, telling, figures]) slot.style.minHeight = '';
    const end = performance.now() + 300;
    for (const frame of [...frames].reverse()) {
      if ((frame.step < 0 || frame.last) && !trace.error && performance.now() < end) paint(frame);
    }
  }

  function go(frame) {
    set({at: String(Math.min(Math.max(0, frame), frames.length - 1))});
    draw();
  }

  function stop() {
    clearInterval(timer);
    timer = undefined;
    drawPlayer();
  }

  function play() {
    if (timer) return stop();
    if (at() === frames.length - 1) set({at: String(playStart)});
    timer = setInterval(() => {
      go(at() + 1);
      if (at() === frames.length - 1) stop();
    }, matchMedia('(prefers-reduced-motion: reduce)').matches ? 1600 : 900);
    go(at() + 1);
    drawPlayer();
  }

  const buttons = {};
  const control = (name, key, action) => {
    buttons[name] = h('button', {type: 'button', id: `player-${name}`, title: `${t(name)} (${key})`,
      'aria-label': t(name), onclick: action}, icon(name));
    return buttons[name];
  };
  const position = h('input', {type: 'range', id: 'position', min: '0', 'aria-label': t('position'),
    oninput: (event) => { stop(); go(Number(event.target.value)); }});
  const player = h('div', {class: 'player', role: 'group', 'aria-label': t('player')},
    control('reset', 'Home', () => { stop(); go(0); }),
    control('back', '←', () => { stop(); go(at() - 1); }),
    control('play', t('space'), play),
    control('step', '→', () => { stop(); go(at() + 1); }),
    control('end', 'End', () => { stop(); go(frames.length - 1); }),
    position);

  function drawPlayer() {
    const first = at() === 0;
    const last = at() === frames.length - 1;
    show(buttons.play, icon(timer ? 'pause' : 'play'));
    buttons.play.setAttribute('aria-label', t(timer ? 'pause' : 'play'));
    // A `disabled` button would lose the focus at the end of the walk.
    for (const [name, ended] of [['reset', first], ['back', first], ['step', last], ['end', last]]) {
      buttons[name].setAttribute('aria-disabled', String(ended));
    }
    position.max = String(frames.length - 1);
    position.value = String(at());
    position.setAttribute('aria-valuetext', t('position_of', {at: at(), of: frames.length - 1}));
  }

  function draw() {
    drawPlayer();
    if (trace.error) {
      show(stage);
      show(telling);
      show(figures);
      return;
    }
    const frame = frames[at()];
    paint(frame);
    for (const [i, item] of [...list.children].entries()) {
      const now = i === frame.step;
      item.classList.toggle('now', now);
      item.classList.toggle('ahead', i > frame.step);
      item.firstChild.setAttribute('aria-current', now ? 'step' : 'false');
      // Scrolls the list alone, and only as far as needed: the page stays where it is.
      if (!now) continue;
      const top = item.offsetTop - list.offsetTop;
      if (top < list.scrollTop) list.scrollTop = top;
      const bottom = top + item.offsetHeight - list.clientHeight;
      if (bottom > list.scrollTop) list.scrollTop = bottom;
    }
  }

  function paint(frame) {
    const step = trace.steps[frame.step];
    const width = Math.max(260, stage.clientWidth || 600);
    // A refused step shows the picture after the last step before it that was not refused.
    const shown = step?.error ? trace.steps.findLastIndex((other, i) => i < frame.step && !other.error) : frame.step;
    const drawn = step?.error
      ? {picture: scene().draw({trace, index: shown, phase: shown < 0 ? 0 : scene().phases(trace.steps[shown]) - 1, width, done: true}).picture,
        telling: [h('p', {class: 'verdict bad'}, translated(step.error))]}
      : scene().draw({trace, index: frame.step, phase: frame.phase, width, done: Boolean(frame.last)});
    show(stage, drawn.picture);
    const verdict = step && !step.error && frame.last ? verdictOf(step, state.kind) : null;
    show(telling,
      h('h3', {}, step ? t(`doing_${step.verb}`, {x: step.element})
        : trace.empty?.n ? t('start_filled', {n: number(trace.empty.n, 9)}) : t('start')),
      note ? h('p', {class: 'preface', id: 'note'}, note) : null, drawn.telling, verdict);
    // The figures are those after the last whole step.
    const settled = frame.last ? step : trace.steps[frame.step - 1];
    show(figures, scene().figures(trace, settled).map(([name, value]) =>
      h('div', {}, h('dt', {}, name), h('dd', {}, value))));
    for (const slot of [stage, telling, figures]) slot.style.minHeight = `${Math.ceil(slot.getBoundingClientRect().height)}px`;
  }

  function buildList() {
    const steps = stepsOf(state.steps);
    show(list, steps.map((step, i) => h('li', {class: step.verb},
      h('button', {type: 'button', 'aria-label': t(`doing_${step.verb}`, {x: step.element}), onclick: () => {
        stop();
        go(frames.findLastIndex((frame) => frame.step === i));
      }}, `${{insert: '+', check: '?', erase: '−'}[step.verb]} ${step.element}`),
      h('button', {type: 'button', class: 'remove', 'aria-label': t('remove_step', {x: step.element}),
        title: t('remove_step', {x: step.element}),
        onclick: () => change({steps: textOf(steps.filter((_, other) => other !== i))})}, '×'))));
  }

  // Settings of the kinds: a number if it has bounds, else a text; and a choice.
  const field = (id, label, min, max) => h('label', {for: id}, label, h('input', {id, type: max ? 'number' : 'text', min, max,
    value: state[id], onchange: (event) => change({[id]: event.target.value})}));
  const select = (id, label, values, nameOf = (value) => value) => h('label', {for: id}, label,
    h('select', {id, onchange: (event) => change({[id]: event.target.value})},
      values.map((value) => h('option', {value, selected: value === state[id]}, nameOf(value)))));

  function buildSettings() {
    erase.hidden = !scene().erases(state.kind);
    const focused = document.activeElement?.id;
    show(settings,
      h('label', {for: 'example'}, t('example'),
        h('select', {id: 'example', onchange: (event) => change({...EXAMPLES[event.target.value], at: '0'})},
          h('option', {value: '', selected: true, disabled: true}, t('choose')),
          Object.keys(EXAMPLES).map((name) => h('option', {value: name}, t(`example_${name}`))))),
      select('kind', t('kind'), Object.keys(SCENES), kindName),
      scene().settings({field, select, state, change}));
    if (focused) document.getElementById(focused)?.focus();
  }

  function add(verb) {
    // Several elements are separated by commas, as on the command line.
    const elements = element.value.split(',').map((text) => text.trim()).filter(Boolean);
    if (elements.length === 0) return element.focus();
    const before = stepsOf(state.steps);
    element.value = '';
    const words = scene() === arrayScene && state.family === 'formulas' && elements.some((one) => !/^-?\d+$/.test(one));
    stop();
    set({at: 'end', steps: textOf([...before, ...elements.map((one) => ({verb, element: one}))]),
      ...(words ? {family: 'double', m: String(Math.max(32, Number(state.m)))} : {})});
    note = words ? t('words_need_hashes', {m: number(state.m, 9)}) : '';
    recompute();
    // "Play" repeats what was typed, not all that was before it.
    playStart = Math.max(0, frames.findIndex((frame) => frame.step === before.length));
    element.focus();
  }

  const element = h('input', {type: 'text', id: 'element', autocomplete: 'off', autocapitalize: 'none',
    spellcheck: 'false', maxlength: '200', placeholder: t('element_hint'),
    onkeydown: (event) => { if (event.key === 'Enter') add(event.shiftKey ? 'check' : 'insert'); }});
  const erase = h('button', {type: 'button', id: 'erase', onclick: () => add('erase')}, `− ${t('erase')}`);
  const actions = h('div', {class: 'actions'},
    h('label', {for: 'element'}, t('element')), element,
    h('div', {class: 'row'},
      h('button', {type: 'button', id: 'insert', class: 'main', onclick: () => add('insert')}, `+ ${t('insert')}`),
      h('button', {type: 'button', id: 'check', onclick: () => add('check')}, `? ${t('check')}`), erase));

  function onKey(event) {
    if (event.target.closest('input, select, textarea, [role=tab]') || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = {
      ArrowRight: () => { stop(); go(at() + 1); }, ArrowLeft: () => { stop(); go(at() - 1); },
      Home: () => { stop(); go(0); }, End: () => { stop(); go(frames.length - 1); },
      ' ': event.target.closest('button') ? null : play,
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  const next = (name, onclick) => h('button', {type: 'button', class: 'link', id: `next-${name}`, onclick}, t(`next_${name}`));
  show(view,
    h('p', {class: 'next'}, next('play', () => { stop(); go(0); play(); }), next('type', () => element.focus()),
      next('plan', () => openTab('plan')), next('plots', () => openTab('plots')), documentAt('docs/README.md', t('next_read'))),
    h('div', {class: 'watch'},
      // First, because a phone shows the sections below each other.
      h('section', {class: 'card theatre', 'aria-label': t('watch')},
        player, problem, stage, telling, figures, source),
      h('section', {class: 'card typing', 'aria-label': t('element')}, actions),
      h('section', {class: 'card side', 'aria-label': t('settings')},
        list,
        h('button', {type: 'button', class: 'quiet', id: 'clear', onclick: () => change({steps: ''})}, t('clear')),
        settings)));
  document.addEventListener('keydown', onKey);
  recompute();
  let lastWidth = stage.clientWidth;
  const onSize = () => {
    if (stage.clientWidth !== lastWidth) {
      lastWidth = stage.clientWidth;
      reserve();
      draw();
    }
  };
  window.addEventListener('resize', onSize);
  return () => {
    clearInterval(timer);
    document.removeEventListener('keydown', onKey);
    window.removeEventListener('resize', onSize);
  };
}
