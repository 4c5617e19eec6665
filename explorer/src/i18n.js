// The page's words, numbers and rates in English and German.

import {en} from './words-en.js';
import {de} from './words-de.js';
import {EXTRAS, german, germanFigures} from './library-de.js';
import {h} from './dom.js';

const ALL = {en, de};
let chosen = 'en';

/** Sets the language; '' stands for the browser's language. */
export function setLanguage(wanted) {
  chosen = ALL[wanted] ? wanted : navigator.language.startsWith('de') ? 'de' : 'en';
}

export const languageOf = () => chosen;

/** The text of that name, with `values` for its {places}. */
export function t(name, values = {}) {
  const text = ALL[chosen][name] ?? en[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (whole, place) => values[place] ?? whole);
}

/** The page's word for a kind, or the library's name of a kind without one. */
export const kindName = (kind) => ALL[chosen][`kind_${kind}`] ?? kind;

/** `text`, the library's line on a kind, in this language where it is known. */
export const ofKind = (what, kind, text) => ALL[chosen][`${what}_${kind}`] ?? text;

/** A figure that the library wrote, such as "1.26 MB". */
export const localized = (text) => (chosen === 'de' ? germanFigures(text) : text);

/** A sentence of the library in this language where it is known, else marked as English. */
export function translated(text) {
  // The page has no options of a command line.
  if (chosen === 'en') return text.replace(/^--hash: /, '').replace('the formulas of --hash need; for words leave --hash out', 'formulas need; for words choose other functions');
  return german(text, (kind) => `„${kindName(kind)}“`) ?? h('span', {lang: 'en'}, text);
}

/** The label of a further figure of a kind, such as "stuck_counters". */
export function extra(name) {
  const english = name === 'fpr_95' ? '95% of such filters: at most' : `${name[0].toUpperCase()}${name.slice(1)}`.replaceAll('_', ' ').replace('fpr', 'rate');
  if (chosen === 'en') return english;
  const ofHalf = name.startsWith('half_');
  const label = EXTRAS[ofHalf ? name.slice(5) : name];
  return label ? label + (ofHalf ? ' (je Hälfte)' : '') : h('span', {lang: 'en'}, english);
}

export const number = (value, digits = 3) =>
  Number(value).toLocaleString(chosen, {maximumSignificantDigits: digits});

/** A rate of three digits, written as the library writes it ("0.740%", "9.73e-07"); an axis needs fewer. */
export function rate(value, digits = 3) {
  if (!(value >= 0)) return '–';
  if (value === 0) return localized('0%');
  if (value <= 1e-6) return localized(value.toExponential(2).replace(/-(\d)$/, '-0$1'));
  return value.toLocaleString(chosen, {style: 'percent', minimumSignificantDigits: digits, maximumSignificantDigits: 3});
}

/** "2, 4 and 9" */
export const listed = (names) => new Intl.ListFormat(chosen).format(names);
