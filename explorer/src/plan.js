// Plan: the known figures in, every kind's plan out.

import {h, show} from './dom.js';
import {kindName, localized, number, ofKind, rate, translated, t} from './i18n.js';
import {kindsWithPaper, paperOf} from './links.js';
import {set, state} from './state.js';
import {ask} from './wasm.js';

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

const NEEDS = ['deletable', 'counting', 'growing', 'unchanging'];

export function planView(view) {
  const out = h('div', {class: 'grid2', id: 'plan-out', 'aria-live': 'polite'});
  let chosen = '';

  const field = (name, key) => h('label', {for: `plan-${key}`}, t(`plan_${name}`),
    h('input', {type: 'text', id: `plan-${key}`, value: state[key], placeholder: t(`plan_${name}_hint`),
      autocomplete: 'off', inputmode: 'text', spellcheck: 'false',
      oninput: (event) => { set({[key]: event.target.value}); recompute(); }}));
  const need = (name) => h('label', {},
    h('input', {type: 'checkbox', id: `need-${name}`, checked: state.needs.split(',').includes(name),
      onchange: (event) => {
        const now = new Set(state.needs.split(',').filter(Boolean));
        if (event.target.checked) now.add(name); else now.delete(name);
        set({needs: [...now].join(',')});
        recompute();
      }}), t(`need_${name}`));

  function line(label, text) {
    const copy = h('button', {type: 'button', onclick: async () => {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        // Some browsers give a page from disk no clipboard. A selection can still be copied.
        const area = h('textarea', {value: text, 'aria-hidden': 'true'});
        document.body.append(area);
        area.select();
        document.execCommand('copy');
        area.remove();
      }
      copy.textContent = t('copied');
      setTimeout(() => { copy.textContent = t('copy'); }, 1500);
    }}, t('copy'));
    copy.setAttribute('aria-label', `${t('copy')}: ${label}`);
    return h('div', {class: 'code'}, h('span', {}, label), h('code', {}, text), copy);
  }

  function details(row) {
    const bound = row.information_bound;
    return [h('h2', {}, kindName(row.kind)), h('p', {}, sentence(ofKind('summary', row.kind, row.summary)), ' ', h('span', {class: 'muted'}, sentence(ofKind('strengths', row.kind, row.strengths)))),
      bound > 0 ? h('p', {}, t('least', {bits: localized(bound.toFixed(2)), times: localized((row.bits_per_key / bound).toFixed(2))})) : null,
      line(t('line_shell'), row.lines.shell), line(t('line_cpp'), row.lines.cpp), line(t('line_python'), row.lines.python),
      row.lines.redis ? line(t('line_redis'), row.lines.redis) : null,
      kindsWithPaper.includes(row.kind) ? h('p', {class: 'muted'}, `${t('paper')} `, paperOf(row.kind)) : null];
  }

  function recompute() {
    const asked = {ask: 'plan', capacity: state.n.trim(), fpr: state.fpr.trim(), memory: state.memory.trim(), hashes: state.hashes.trim()};
    for (const name of NEEDS) asked[name] = state.needs.split(',').includes(name);
    const made = ask(asked);
    if (made.error) {
      show(out, h('p', {class: 'card problem', role: 'alert', id: 'plan-problem'}, translated(made.error)));
      return;
    }
    const fit = made.kinds.filter((row) => !row.refused);
    const picked = fit.find((row) => row.kind === chosen) ?? fit[0];
    const below = h('div', {class: 'card', id: 'plan-detail'}, details(picked));
    const choose = (row) => {
      chosen = row.kind;
      for (const each of out.querySelectorAll('tr[data-kind]')) each.classList.toggle('chosen', each.dataset.kind === chosen);
      show(below, details(row));
    };
    show(out,
      h('div', {class: 'card'},
        h('p', {id: 'plan-reason'}, h('strong', {}, `${t('recommended')}: `), translated(made.reason), '. ', made.rate_assumed ? t('rate_assumed') : ''),
        h('p', {class: 'muted', id: 'plan-default', 'data-default': made.default}, fit[0].kind === made.default ? t('default_same')
          : t('default_other', {kind: kindName(made.default)})),
        h('div', {class: 'scroll'}, h('table', {id: 'plan-table'},
          h('thead', {}, h('tr', {}, ['kind', 'bits', 'size', 'rate', 'k', 'keys', 'can'].map((name) =>
            h('th', {scope: 'col', class: name}, t(`col_${name}`))))),
          h('tbody', {}, fit.map((row, i) => h('tr', {class: `${i === 0 ? 'best' : ''}${row === picked ? ' chosen' : ''}`, 'data-kind': row.kind,
            onclick: () => choose(row)},
          h('td', {class: 'kind'}, h('button', {type: 'button', onclick: () => choose(row)}, kindName(row.kind))),
          h('td', {class: 'bits', 'data-bits-per-key': row.bits_per_key}, localized(row.bits_per_key.toFixed(2))),
          h('td', {class: 'size', 'data-bytes': row.bytes}, localized(row.shown.bytes)), h('td', {class: 'rate', 'data-rate': row.planned_fpr}, rate(row.planned_fpr)),
          h('td', {class: 'k'}, row.hashes ?? '–'), h('td', {class: 'keys'}, number(row.capacity, 21)),
          h('td', {class: 'can'}, row.can.map((name) => t(`can_${name}`)).join(', ') || t('query_only')))))),
        made.kinds.length > fit.length ? h('details', {}, h('summary', {}, t('refused')), h('ul', {},
          made.kinds.filter((row) => row.refused).map((row) => h('li', {}, h('strong', {}, kindName(row.kind)), ': ', translated(row.refused))))) : null)),
      below);
  }

  show(view, h('div', {class: 'grid2'},
    h('section', {class: 'card', 'aria-label': t('plan')},
      h('p', {class: 'muted', style: 'margin-top:0'}, t('plan_intro')),
      h('div', {class: 'fields'}, field('n', 'n'), field('fpr', 'fpr'), field('memory', 'memory'), field('hashes', 'hashes')),
      h('fieldset', {}, h('legend', {}, t('needs')), NEEDS.map(need))),
    out));
  recompute();
}
