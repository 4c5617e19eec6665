// The page's words in the two languages of the lectures it is for.

import {en} from './words-en.js';
import {de} from './words-de.js';
import {german} from './library-de.js';
import {h} from './dom.js';

const ALL = {en, de};
let chosen = 'en';

/** '' is the browser's. */
export function setLanguage(wanted) {
  chosen = ALL[wanted] ? wanted : navigator.language.startsWith('de') ? 'de' : 'en';
}

export const languageOf = () => chosen;

/** The text of that name, its {places} filled. */
export function t(name, values = {}) {
  const text = ALL[chosen][name] ?? en[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (whole, place) => values[place] ?? whole);
}

/** A kind's own line of the library, `text`, in this language where it is known. */
export const ofKind = (what, kind, text) => ALL[chosen][`${what}_${kind}`] ?? text;

/** What the library says, in this language where it is known, else marked as English. */
export function said(text) {
  if (chosen === 'en') return text;
  return german(text, (kind) => t(`kind_${kind}`)) ?? h('span', {lang: 'en'}, text);
}

export const number = (value, digits = 3) =>
  Number(value).toLocaleString(chosen, {maximumSignificantDigits: digits});

/** A rate as a percentage with three digits. */
export function rate(value) {
  if (!(value > 0)) return value === 0 ? '0 %' : '–';
  if (value < 1e-6) return value.toExponential(2);
  return `${(100 * value).toLocaleString(chosen, {maximumSignificantDigits: 3})} %`;
}

/** "2, 4 and 9" */
export const listed = (names) => new Intl.ListFormat(chosen).format(names);
