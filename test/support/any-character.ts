import fc from 'fast-check';

const surrogates = { from: 0xd800, count: 0x800 };

/**
 * Any character, as a unit of strings. The same as fast-check's own `binary`, which first makes a table of all 1.1 million
 * of them, for a second of processor time, to recognise the strings that are known to do harm.
 */
export const anyCharacter = fc.nat({ max: 0x10ffff - surrogates.count }).map(
  (n) => String.fromCodePoint(n < surrogates.from ? n : n + surrogates.count),
  (text) => {
    const code = (typeof text === 'string' ? text.codePointAt(0) : undefined) ?? -1;
    if (code === -1 || text !== String.fromCodePoint(code)) throw new Error('Not one character');
    return code < surrogates.from ? code : code - surrogates.count;
  },
);
