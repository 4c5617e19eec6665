// The frame: title, tabs, language, light and dark.

import {h, show} from './dom.js';
import {languageOf, setLanguage, t} from './i18n.js';
import {onAddress, readAddress, set, state} from './state.js';
import {watchView} from './watch.js';
import {planView} from './plan.js';
import {plotsView} from './plots.js';
import {inspectView} from './inspect.js';
import {ready} from './wasm.js';

const VIEWS = {watch: watchView, plan: planView, plots: plotsView, inspect: inspectView};
let leave = () => {};

function applyLook() {
  setLanguage(state.lang);
  document.documentElement.lang = languageOf();
  document.documentElement.dataset.theme = state.theme;
  document.title = t('title');
}

function isDark() {
  return state.theme ? state.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function tabs() {
  const names = Object.keys(VIEWS);
  const choose = (name) => {
    set({tab: name});
    render();
    document.getElementById(`tab-${name}`).focus();
  };
  return h('div', {role: 'tablist', 'aria-label': t('views'), class: 'tabs'},
    names.map((name, i) => h('button', {
      role: 'tab', id: `tab-${name}`, type: 'button', 'aria-selected': String(state.tab === name),
      'aria-controls': 'view', tabindex: state.tab === name ? '0' : '-1',
      onclick: () => choose(name),
      onkeydown: (event) => {
        const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
        if (!step) return;
        event.preventDefault();
        event.stopPropagation();
        choose(names[(i + step + names.length) % names.length]);
      },
    }, t(name))));
}

function render() {
  leave();
  applyLook();
  if (!VIEWS[state.tab]) set({tab: 'watch'});
  const view = h('main', {id: 'view', role: 'tabpanel', 'aria-labelledby': `tab-${state.tab}`});
  show(document.getElementById('app'),
    h('header', {class: 'top'},
      h('div', {class: 'brand'}, h('h1', {}, 'Bloomery ', h('span', {}, t('explorer'))),
        h('p', {}, t('tagline'))),
      h('div', {class: 'look'},
        h('button', {type: 'button', class: 'quiet', id: 'language', 'aria-label': t('other_language_label'),
          onclick: () => { set({lang: languageOf() === 'de' ? 'en' : 'de'}); render(); }},
        t('other_language')),
        h('button', {type: 'button', class: 'quiet', id: 'theme', 'aria-label': t(isDark() ? 'light' : 'dark'),
          onclick: () => { set({theme: isDark() ? 'light' : 'dark'}); render(); }},
        isDark() ? '☀' : '☾'))),
    tabs(), view,
    h('footer', {}, t('footer')));
  leave = VIEWS[state.tab](view) ?? (() => {});
}

ready.then(() => {
  readAddress();
  onAddress(render);
  render();
}, (error) => {
  readAddress();
  applyLook();
  show(document.getElementById('app'), h('p', {role: 'alert', class: 'problem'}, t('no_library', {why: error.message})));
});
