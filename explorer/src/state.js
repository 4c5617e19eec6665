// The page's state, which its address holds: a link to the page leads to this very moment.

const DEFAULTS = {
  tab: 'watch', lang: '', theme: '',
  kind: 'bloom', m: '10', formulas: '(x+3)%10;(3*x+1)%10;(x^2+2)%10', family: 'formulas', k: '3', fold: '1',
  counterBits: '4', buckets: '4', slots: '2', fingerprint: '8', capacity: '4', rate: '5%', blocks: '4', crowd: '0',
  exactSlots: '8', others: 'dog,fox,hen,owl,pig',
  steps: '+2,+4,+9,?4,?7,?12', at: 'end',  // the lookup of 12: a false positive
  n: '1M', fpr: '1%', memory: '', hashes: '', needs: '', plot: 'space', plotN: '10000',
};

export const state = {...DEFAULTS};

const listeners = new Set();
export const onAddress = (listener) => listeners.add(listener);

export function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(DEFAULTS)) state[name] = given.get(name) ?? DEFAULTS[name];
}

let written;  // the address of the last change

function writeAddress() {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (String(value) !== DEFAULTS[name]) given.set(name, value);
  }
  const hash = `#${given}`;
  if (hash !== location.hash && !(hash === '#' && location.hash === '')) {
    history.replaceState(null, '', hash === '#' ? location.pathname + location.search : hash);
  }
  written = location.hash;
}

// Browsers refuse frequent changes of the address, as a held arrow key makes them: Safari after 100 in 30 s,
// Chromium after 200 in 10 s.
const ADDRESS_INTERVAL = 350;  // milliseconds
let waiting = false;
let changed = false;

/** Writes the change to the state, and to the address at once or at the end of the interval. */
export function set(change) {
  Object.assign(state, change);
  if (waiting) {
    changed = true;
    return;
  }
  writeAddress();
  waiting = true;
  setTimeout(() => {
    waiting = false;
    // A link that was followed meanwhile wins over the change.
    if (changed && location.hash === written) set({});
    changed = false;
  }, ADDRESS_INTERVAL);
}

window.addEventListener('hashchange', () => {
  readAddress();
  written = location.hash;
  for (const listener of listeners) listener();
});

const VERBS = {'+': 'insert', '?': 'check', '-': 'erase'};
const SIGNS = {insert: '+', check: '?', erase: '-'};

/** "+2,?12" as [{verb, element}]; a comma inside an element is %2C. */
export function stepsOf(text) {
  return text.split(',').filter((piece) => VERBS[piece[0]] && piece.length > 1).map((piece) => {
    let element = piece.slice(1);
    try {
      element = decodeURIComponent(element);
    } catch { /* a bare % stands for itself */ }
    return {verb: VERBS[piece[0]], element};
  });
}

export const textOf = (steps) => steps.map(({verb, element}) =>
  SIGNS[verb] + element.replaceAll('%', '%25').replaceAll(',', '%2C')).join(',');
