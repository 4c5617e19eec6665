// The page's words in the two languages of the lectures it is for.

import {en} from './words-en.js';
import {de} from './words-de.js';

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
