const CODES = ['invalid_argument', 'not_found', 'exists', 'corrupt', 'unsupported', 'incompatible', 'full', 'io',
  'out_of_memory'];

/** A failure. Its message is one sentence: what was wrong, where, and what to do. */
export class BloomsetError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = 'BloomsetError';
    this.code = code;
  }

  /** The failure of a call of the module, which returned this status. */
  static of(status, message) {
    return new BloomsetError(CODES[status - 1] ?? 'invalid_argument', message);
  }
}
