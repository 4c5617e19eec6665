// Elements without a framework: h('button', {onclick, 'aria-label': text}, children).

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

export const h = (name, attributes, ...children) =>
  fill(document.createElement(name), attributes, children);

export const s = (name, attributes, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

/** A picture of that size in pixels; `attributes` has its aria-label. */
export const svg = (width, height, attributes, ...children) =>
  s('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', ...attributes}, children);

/** Replaces the content of `slot` by `next`. */
export function show(slot, ...next) {
  slot.replaceChildren(...next.flat(Infinity).filter(Boolean));
}
