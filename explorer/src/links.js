// Where to read on: the project's documents, by name, and links to the paper that each kind comes from.

import {h} from './dom.js';
import {t} from './i18n.js';

const PAPERS = {
  blocked_bloom: ['Putze, Sanders, Singler, 2009', '10.1145/1498698.1594230'],
  bloom: ['Bloom, 1970', '10.1145/362686.362692'],
  counting_bloom: ['Fan, Cao, Almeida, Broder, 2000', '10.1109/90.851975'],
  vector_quotient: ['Pandey et al., 2021', '10.1145/3448016.3452841'],
  cuckoo: ['Fan, Andersen, Kaminsky, Mitzenmacher, 2014', '10.1145/2674005.2674994'],
  expandable: ['Dayan, Bercea, Reviriego, Pagh, 2023', '10.1145/3589285'],
  scalable_bloom: ['Almeida, Baquero, Preguiça, Hutchison, 2007', '10.1016/j.ipl.2006.10.007'],
  fuse: ['Graf, Lemire, 2022', '10.1145/3510449'],
  ribbon: ['Dillinger et al., 2022', '10.4230/LIPIcs.SEA.2022.4'],
  exact: ['Schanck, 2025', 'https://eprint.iacr.org/2025/610'],
};

export const kindsWithPaper = Object.keys(PAPERS);

const link = (href, text) => h('a', {href, target: '_blank', rel: 'noopener'}, text);

export const paperOf = (kind) => link(PAPERS[kind][1].startsWith('https:') ? PAPERS[kind][1]
  : `https://doi.org/${PAPERS[kind][1]}`, PAPERS[kind][0]);

// A document of the checkout. The page may stand anywhere, so it names the file and does not link to it.
export const documentAt = (path, text) => h('span', {class: 'document'}, `${text}: `, h('code', {}, path));
