const root = document.body.dataset.root;
const one = (css) => document.querySelector(css);

// The menu of a phone, and the list of headings where there is room for it.
one('#menu-button').addEventListener('click', () => {
  one('#menu-button').setAttribute('aria-expanded', one('#menu').classList.toggle('open'));
});
const wide = matchMedia('(min-width: 1251px)');
const openHeadings = () => one('#headings')?.toggleAttribute('open', wide.matches);
wide.addEventListener('change', openHeadings);
openHeadings();

// The system's colours, until the reader chooses.
const theme = document.documentElement.dataset;
one('#theme-button').addEventListener('click', () => {
  theme.theme = theme.theme === 'dark' ? 'light' : 'dark';
  localStorage.setItem('theme', theme.theme);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => {
  if (!localStorage.getItem('theme')) theme.theme = event.matches ? 'dark' : 'light';
});

// Search: sections that have all words, those with the words in their headings first. The texts are a script, because a
// page that was opened from a folder may not read other files.
const query = one('#query');
const found = one('#found');
const MOST = 12;
let sections = null;  // until the reader searches

const loadSections = () => {
  if (one('#search-index')) return;
  const script = document.createElement('script');
  script.id = 'search-index';
  script.src = `${root}/search/search_index.js`;
  script.onload = () => {
    sections = window.searchIndex.map(([location, page, title, text]) => ({
      location, page, title, text, lowerPage: page.toLowerCase(), lowerTitle: title.toLowerCase(),
      lowerText: text.toLowerCase()}));
    showFound();
  };
  document.head.append(script);
};

const scoreOf = (section, words) => {
  let score = 0;
  for (const word of words) {
    const inText = section.lowerText.split(word).length - 1;
    const here = 20 * section.lowerTitle.includes(word) + 8 * section.lowerPage.includes(word) + Math.min(inText, 5);
    if (!here) return 0;
    score += here;
  }
  return score;
};

const excerptOf = ({text, lowerText}, words) => {
  const at = Math.max(0, ...words.map((word) => lowerText.indexOf(word)).filter((place) => place >= 0).slice(0, 1));
  const from = at < 60 ? 0 : text.lastIndexOf(' ', at - 40) + 1;
  return (from ? '... ' : '') + text.slice(from, from + 140);
};

const showFound = () => {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = !sections || !words.length;
  if (!sections) return;
  const best = sections.map((section) => ({section, score: scoreOf(section, words)})).filter(({score}) => score)
    .sort((a, b) => b.score - a.score).slice(0, MOST);
  found.replaceChildren(...best.map(({section}) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = `${root}/${section.location}`;
    link.textContent = section.page === section.title ? section.title : `${section.page}: ${section.title}`;
    const small = document.createElement('small');
    small.textContent = excerptOf(section, words);
    link.append(small);
    item.append(link);
    return item;
  }));
  if (!best.length) {
    const item = document.createElement('li');
    item.className = 'none';
    item.textContent = 'No page has all of these words.';
    found.append(item);
  }
};

query.addEventListener('focus', loadSections);
query.addEventListener('input', () => { loadSections(); showFound(); });
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !/input|textarea/i.test(document.activeElement.tagName)) { event.preventDefault(); query.focus(); }
  if (event.key === 'Escape') found.hidden = true;
  if (event.key === 'Enter' && document.activeElement === query) found.querySelector('a')?.click();
  if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !found.hidden) {
    const links = [query, ...found.querySelectorAll('a')];
    const next = links[links.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)];
    if (next) { event.preventDefault(); next.focus(); }
  }
});
document.addEventListener('click', (event) => { if (!event.target.closest('.search')) found.hidden = true; });
