// The frame: title, tabs, language, light and dark.

import {h, show} from './dom.js';
import {kindName, languageOf, setLanguage, t} from './i18n.js';
import {documentAt, kindsWithPaper, paperOf} from './links.js';
import {onAddress, readAddress, set, state} from './state.js';
import {watchView} from './watch.js';
import {planView} from './plan.js';
import {plotsView} from './plots.js';
import {inspectView} from './inspect.js';
import {ready} from './wasm.js';

const VIEWS = {watch: watchView, plan: planView, plots: plotsView, inspect: inspectView};
const systemDark = matchMedia('(prefers-color-scheme: dark)');
let leave = () => {};

const theme = () => state.theme || (systemDark.matches ? 'dark' : 'light');

function applyLook() {
  setLanguage(state.lang);
  document.documentElement.lang = languageOf();
  document.documentElement.dataset.theme = theme();
  document.documentElement.dataset.tab = state.tab;
  document.title = t('title');
}

function openTab(name) {
  set({tab: name});
  render();
  document.getElementById(`tab-${name}`).focus();
}

function tabs() {
  const names = Object.keys(VIEWS);
  return h('div', {role: 'tablist', 'aria-label': t('views'), class: 'tabs'},
    names.map((name, i) => h('button', {
      role: 'tab', id: `tab-${name}`, type: 'button', 'aria-selected': String(state.tab === name),
      'aria-controls': 'view', tabindex: state.tab === name ? '0' : '-1',
      onclick: () => openTab(name),
      onkeydown: (event) => {
        const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
        if (!step) return;
        event.preventDefault();
        event.stopPropagation();
        openTab(names[(i + step + names.length) % names.length]);
      },
    }, t(name))));
}

function render() {
  leave();
  if (!VIEWS[state.tab]) set({tab: 'watch'});
  applyLook();
  const other = theme() === 'dark' ? 'light' : 'dark';
  const view = h('main', {id: 'view', role: 'tabpanel', 'aria-labelledby': `tab-${state.tab}`});
  show(document.getElementById('app'),
    h('header', {class: 'top'},
      h('h1', {}, 'Bloomset ', h('span', {}, t('explorer'))),
      h('div', {class: 'look'},
        h('button', {type: 'button', class: 'quiet', id: 'language', 'aria-label': t('other_language_label'),
          onclick: () => { set({lang: languageOf() === 'de' ? 'en' : 'de'}); render(); }},
        t('other_language')),
        h('button', {type: 'button', class: 'quiet', id: 'theme', 'aria-label': t(other),
          onclick: () => { set({theme: other}); render(); }},
        other === 'light' ? '☀' : '☾')),
      h('p', {id: 'tagline'}, t('tagline'))),
    tabs(), view,
    h('footer', {},
      h('p', {}, t('footer')),
      h('p', {}, documentAt('docs/README.md', t('doc_all')), documentAt('docs/how-it-works/explorer.md', t('doc_page')),
        documentAt('docs/how-it-works/rates.md', t('doc_rates')), documentAt('docs/how-it-works/drawbacks.md', t('doc_drawbacks'))),
      h('details', {}, h('summary', {}, t('papers')), h('p', {}, kindsWithPaper.map((kind) => h('span', {}, `${kindName(kind)}: `, paperOf(kind)))))));
  leave = VIEWS[state.tab](view, openTab) ?? (() => {});
}

ready.then(() => {
  readAddress();
  onAddress(render);
  systemDark.addEventListener('change', render);
  render();
}, (error) => {
  readAddress();
  applyLook();
  show(document.getElementById('app'), h('p', {role: 'alert', class: 'problem'}, t('no_library', {why: error.message})));
});
