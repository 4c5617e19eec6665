// The library's frequent sentences in German: reasons, refusals and errors. Any other sentence stays English
// and is marked as such.

const VERBS = {erase: 'löschen', count: 'zählen', grow: 'wachsen', 'take keys one by one': 'einzelne Schlüssel aufnehmen'};
const verbs = (text, joint = ' und ') => text.split(/ and | or /).map((verb) => VERBS[verb] ?? verb).join(joint);
const CLAIMS = {
  'has the lowest rate in that memory': 'hat in diesem Speicher die niedrigste Rate',
  'holds the most keys in that memory': 'fasst in diesem Speicher die meisten Schlüssel',
  'wastes the least memory for its rate': 'verschwendet für seine Rate am wenigsten Speicher',
  'takes the least memory': 'braucht am wenigsten Speicher',
  'takes the least memory once it has grown a thousandfold': 'braucht am wenigsten Speicher, wenn er auf das Tausendfache gewachsen ist',
};
const THINGS = {count: 'keine Anzahl', rate: 'keine Rate', size: 'keine Größe'};
const WHYS = {
  'it does not start with a number': 'sie beginnt nicht mit einer Zahl', 'it must be at least 1': 'sie muss mindestens 1 sein',
  'it is too large': 'sie ist zu groß', 'it is not a whole number': 'sie ist keine ganze Zahl', 'it must lie between 0 and 1': 'sie muss zwischen 0 und 1 liegen',
  "there is no number after the '/'": 'nach dem / steht keine Zahl',
};
const why = (text) => WHYS[text] ?? text.replace(/^'(.*)' is not a unit$/, '„$1“ ist keine Einheit');
/** Figures with German separators: "1,26 MB", "0,740 %". */
export const germanFigures = (text) => text.replace(/\d[\d.,]*/g, (digits) => digits.replace(/[.,]/g, (sign) => (sign === '.' ? ',' : '.'))).replaceAll('%', '\u00a0%');

const amount = (text) => germanFigures(text).replace(' times the least possible', '-mal so viel wie mindestens nötig').replace('bits/key', 'Bits/Schlüssel');
const among = (can) => (can ? `unter den Arten, die ${verbs(can)} können` : 'unter den Arten hier');
const PARTS = {"x, a number, '-' or '('": 'x, eine Zahl, - oder (', "an operator (+ - * % ^) or ')'": 'ein Operator (+ - * % ^) oder )', 'an operator (+ - * % ^) or the end': 'ein Operator (+ - * % ^) oder das Ende'};
const NAMES = {m: 'm', k: 'k', crowd: 'Die Zahl der Elemente, die schon in der Menge sind,', buckets: 'Die Zahl der Eimer', slots: 'Die Zahl der Plätze', blocks: 'Die Zahl der Blöcke', capacity: 'Die Kapazität', fingerprint_bits: 'Die Länge des Fingerabdrucks'};
const COLUMN = (rest) => rest.replace(/; write \* to multiply$/, '; für Mal steht *');

/** The library's sentences as patterns, each with its German sentence. `name` gives a kind's German name. */
const SENTENCES = [
  [/^(\w+) (.+?)(?: of the kinds here| of the kinds that can ([\w ]+)): (.+), no more than (\w+)$/,
    ([, kind, claim, can, figure, next], name) => CLAIMS[claim] && `${name(kind)} ${CLAIMS[claim]} ${among(can)}: ${amount(figure)}, nicht mehr als ${name(next)}`],
  [/^(\w+) (.+?)(?: of the kinds here| of the kinds that can ([\w ]+)): (.+), against (.+) for (\w+)$/,
    ([, kind, claim, can, figure, theirs, next], name) => CLAIMS[claim] && `${name(kind)} ${CLAIMS[claim]} ${among(can)}: ${amount(figure)} gegenüber ${amount(theirs)} (${name(next)})`],
  [/^(\w+) reads (\d+) cache lines? per query, against (\d+) cache lines? for (\w+), which (.+): (.+), against (.+)$/,
    ([, kind, lines, others, next, claim, figure, theirs], name) => CLAIMS[claim] && `${name(kind)} liest je Abfrage ${lines} Cache-Zeile${lines === '1' ? '' : 'n'}, gegenüber ${others} (${name(next)}); ${name(next)} ${CLAIMS[claim]}: ${amount(figure)} gegenüber ${amount(theirs)}`],
  [/^(\w+) is the only kind here that can (.+)$/, ([, kind, can], name) => `${name(kind)} ist die einzige Art hier, die ${verbs(can)} kann`],
  [/^(\w+) is the only kind here that meets the request$/, ([, kind], name) => `${name(kind)} ist die einzige Art hier, die der Anfrage genügt`],
  [/^no kind here that is built once for an unchanging set fits$/, () => 'keine Art, die einmal für eine feste Menge gebaut wird, passt'],
  [/^no filter of that rate can do with less than (.+) bits\/key$/, ([, bits]) => `kein Filter dieser Rate kommt mit weniger als ${amount(bits)} Bits/Schlüssel aus`],
  [/^a filter of kind \w+ cannot (.+)$/, ([, can]) => `kann ${can.includes(' or ') ? 'weder' : 'nicht'} ${verbs(can, ' noch ')}`],
  [/^a filter of kind \w+ is built once and accepts no more keys$/, () => 'wird einmal gebaut und nimmt später keine Schlüssel auf'],
  [/^no kind here can (.+?)(?: at once)?; leave that need out$/, ([, can]) => `Keine Art hier kann ${verbs(can)}; eine Anforderung weglassen`],
  [/^a set that never changes has no need to (.+); leave one of the two out$/, ([, can]) => `Ein Filter, der sich nie ändert, muss nicht ${verbs(can)}; eine der beiden Anforderungen weglassen`],
  [/^the filter's size is not determined; give two of capacity, rate and memory$/, () => 'Die Größe des Filters ist offen; zwei von Schlüsseln, Rate und Speicher angeben'],
  [/^an? .+ filter's size is not determined; give two of capacity, rate and memory$/, () => 'die Größe ist offen; zwei von Schlüsseln, Rate und Speicher angeben'],
  [/^the number of hash functions does not apply to a filter of kind \w+; leave it out$/, () => 'hat keine Zahl von Funktionen; sie weglassen'],
  [/^an? .+ filter of (.+) bits has no room for (.+) keys?; .*$/, ([, bits, n]) => `${n} Schlüssel passen nicht in ${bits} Bits; mehr Speicher oder weniger Schlüssel angeben`],
  [/^(.+) bits are too few for (.+) keys? to begin with; .*$/, ([, bits, n]) => `${bits} Bits sind zu wenig für ${n} Schlüssel; mehr Speicher oder gar keinen angeben`],
  [/^(.+) keys? at a rate of (.+) (?:is|are) beyond what 64-bit hashes can promise; .*$/, ([, n, rate]) => `${n} Schlüssel mit einer Rate von ${rate} sind mehr, als Hashes von 64 Bits versprechen können; weniger Schlüssel oder eine höhere Rate angeben`],
  [/^(.+) keys? in (.+) bits? would give a rate of (.+), not (.+); leave one of capacity, rate and memory out$/,
    ([, n, bits, is, wanted]) => `${n} Schlüssel in ${bits} Bits haben eine Rate von ${is}, nicht ${wanted}; eines von Schlüsseln, Rate und Speicher offen lassen`],
  [/^(.+) keys? in (.+) would give a rate of (.+), at which a filter is nearly useless; .*$/,
    ([, n, size, is]) => `${n} Schlüssel in ${amount(size)} hätten eine Rate von ${is}, mit der ein Filter fast nichts aussagt; mehr Speicher oder weniger Schlüssel angeben`],
  [/^a rate of (.+) is too low for this kind, even with 128-bit hashes; .*$/, ([, is]) => `eine Rate von ${is} ist für diese Art zu niedrig, auch mit Hashes von 128 Bits; eine höhere Rate oder eine andere Art wählen`],
  [/^a filter has 1 to (\d+) functions$/, ([, most]) => `Ein Filter hat 1 bis ${most} Funktionen`],
  [/^'(.*)' is not a (count|rate|size): (.+); write it as (.+)$/, ([, text, thing, reason, examples]) => `„${text}“ ist ${THINGS[thing]}: ${why(reason)}; richtig sind etwa ${examples.replace(' or ', ' oder ')}`],
  [/^(\w+) is (.+); give (\d+) to (\d+)$/, ([, name, is, least, most]) => NAMES[name] && `${NAMES[name]} ist ${is}; möglich sind ${least} bis ${most}`],
  [/^.*: it was made with another secret key; .*$/, () => 'Dieser Filter hat einen anderen geheimen Schlüssel'],
  [/^a secret key has 32 hexadecimal digits$/, () => 'Ein geheimer Schlüssel hat 32 hexadezimale Ziffern'],
  [/^there are no members; insert at least one word$/, () => 'Es gibt keine Mitglieder; mindestens ein Wort einfügen'],
  [/^(.+) is a member and one of the others; give it once$/, ([, x]) => `${x} ist ein Mitglied und eines der anderen Wörter; es nur einmal angeben`],
  [/^(\d+) slots leave more than (\d+) free for (\d+) members; give fewer$/, ([, is, most, n]) => `Bei ${is} Plätzen und ${n} Mitgliedern wären mehr als ${most} frei; weniger Plätze angeben`],
  [/^the equations of (\d+) members over (\d+) slots contradict each other; give more slots$/, ([, n, is]) => `Die Gleichungen von ${n} Mitgliedern über ${is} Plätzen widersprechen sich; mehr Plätze angeben`],
  [/^(\d+) other words are too many to watch; give at most (\d+)$/, ([, is, most]) => `${is} andere Wörter sind zu viele zum Zusehen; höchstens ${most}`],
  [/^an exact filter cannot erase, because it is built once$/, () => 'Ein exakter Filter kann nicht löschen, weil er einmal gebaut wird'],
  [/^an element has 1 to (\d+) bytes, not (\d+)$/, ([, most, is]) => `Ein Element hat 1 bis ${most} Bytes, nicht ${is}`],
  [/^(\d+) steps are too many to watch; give at most (\d+)$/, ([, is, most]) => `${is} Schritte sind zu viele zum Zusehen; höchstens ${most}`],
  [/^a (?:scalable |blocked )?Bloom filter cannot erase: a bit may be another element's too$/, () => 'Dieser Filter kann nicht löschen: Ein Bit kann auch zu einem anderen Element gehören'],
  [/^'(.*)' is not a whole number of 64 bits, which the formulas of --hash need.*$/, ([, x]) => `„${x}“ ist keine ganze Zahl von 64 Bits, wie die Formeln sie brauchen; für Wörter eine andere Hashfunktion wählen`],
  [/^--hash: the formula '(.*)' ends at column (\d+), where (.+) was expected(.*)$/, ([, formula, column, what, rest]) => PARTS[what] && `Die Formel „${formula}“ endet in Spalte ${column}, wo ${PARTS[what]} erwartet wird${COLUMN(rest)}`],
  [/^--hash: the formula '(.*)' has '(.*)' in column (\d+), where (.+) was expected(.*)$/, ([, formula, sign, column, what, rest]) => PARTS[what] && `Die Formel „${formula}“ hat „${sign}“ in Spalte ${column}, wo ${PARTS[what]} erwartet wird${COLUMN(rest)}`],
  [/^members and the other keys of its universe are answered exactly; a key outside the universe passes at a rate of (.+)$/, ([, share]) => `Mitglieder und die anderen Schlüssel des Universums werden fehlerfrei beantwortet; ein Schlüssel außerhalb besteht mit der Rate ${share}`],
  [/^members and the other keys of its universe are answered exactly; a key of another partition has no answer; another key of a partition passes at a rate of ([^ ]+)(?: in the mean, ([^ ]+) to ([^ ]+))?$/, ([, mean, lowest, highest]) => `Mitglieder und die anderen Schlüssel des Universums werden fehlerfrei beantwortet; ein Schlüssel einer anderen Partition hat keine Antwort; ein anderer Schlüssel einer Partition besteht mit der Rate ${mean}${lowest ? ` im Mittel, ${lowest} bis ${highest}` : ''}`],
  [/^members$/, () => 'Mitglieder'],
  [/^other keys$/, () => 'die anderen Schlüssel'],
  [/^this is too large for the page; use the command line$/, () => 'Das ist zu groß für die Seite; die Kommandozeile kann es'],
  [/^(.+): the (?:payload|header)'s checksum does not match; .*$/, ([, file]) => `${file}: Eine Prüfsumme stimmt nicht; die Datei ist beschädigt und muss wiederhergestellt oder neu gebaut werden`],
  [/^(.+): this is not a Bloomset filter .*$/, ([, file]) => `${file}: Das ist kein Filter von Bloomset (die ersten 8 Bytes sind nicht sein Kennzeichen)`],
];

/** The names of further figures of a filter. */
export const EXTRAS = {
  arity: 'Stellen je Schlüssel', can: 'Kann', fpr_95: 'Rate von 95% solcher Filter höchstens', hash: 'Hashfunktion', hash_bits: 'Bits je Hash', bits_per_key_after_1024fold_growth: 'Bits je Schlüssel nach 1.024-fachem Wachstum', blocks: 'Blöcke',
  buckets: 'Eimer', cells: 'Zellen', classic_fpr: 'Lehrbuch-Rate', counter_bits: 'Bits je Zähler', counters: 'Zähler', entries: 'Einträge', exceptions: 'Ausnahmen',
  expected_growth: 'Erwartetes Wachstum', fingerprint_bits: 'Bits je Fingerabdruck', first_columns: 'Spalten des ersten Abschnitts', guided_columns: 'Spalten des gelenkten Abschnitts', holds: 'Enthält', growth: 'Wachstum je Filter', ideal_fpr: 'Ideale Rate',
  initial_capacity: 'Anfangskapazität', last_section_keys: 'Schlüssel des letzten Abschnitts', layer_keys: 'Schlüssel der Schichten', layers: 'Schichten', layout: 'Anordnung', levels: 'Stufen', limit: 'Grenze der Schlüssel', load: 'Belegung', meaning: 'Bedeutung', members: 'Filter in der Kette',
  members_after_1024fold_growth: 'Filter nach 1.024-fachem Wachstum', optimal_hashes: 'Bestes k', overflow_entries: 'Einträge im Überlauf', partitions: 'Partitionen', probe: 'Hashregel',
  remainder_bits: 'Bits je Rest', segment_length: 'Segmentlänge', segments: 'Segmente', shards: 'Teile', slots: 'Plätze', stashed: 'Im Überlauf',
  stuck_counters: 'Zähler am Maximum', tightening: 'Faktor der Rate',
};

const one = (text, name) => {
  for (const [pattern, german] of SENTENCES) {
    const found = pattern.exec(text);
    if (found) return german(found, name) || null;
  }
  return null;
};

/** The sentence in German, or null. A reason may join several sentences with semicolons. */
export function german(text, name) {
  const whole = one(text, name);
  if (whole) return whole;
  const pieces = text.split('; ').map((piece) => one(piece, name));
  return pieces.every(Boolean) ? pieces.join('; ') : null;
}
