import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { codecOf, extendsAscii, restoreBytes } from '../../../../electron/batch/reading/encodings.ts';
import { encoding as encodingSchema, type Encoding } from '../../../../electron/contract/models/batch.ts';
import { anyCharacter } from '../../../support/any-character.ts';

const all: readonly Encoding[] = encodingSchema.options;
const utf16: readonly Encoding[] = ['utf-16le', 'utf-16be'];
const eastAsian: readonly Encoding[] = ['shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr'];
const singleByte = all.filter(
  (name) => name !== 'utf-8' && !utf16.includes(name) && !eastAsian.includes(name),
);

const noise = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  // Mostly bytes that begin or end longer characters.
  fc.array(
    fc.oneof(fc.integer({ min: 0x80, max: 0xff }), fc.constantFrom(0x30, 0x39, 0x41, 0x5c, 0x7c, 0x0a, 0x2c)),
    {
      maxLength: 60,
    },
  ),
);

/** One character in each encoding that is two bytes or more, or a letter with an accent. */
const words: Readonly<Partial<Record<Encoding, string>>> = {
  'utf-8': 'é日💳',
  'utf-16le': 'é日💳',
  'utf-16be': 'é日💳',
  'iso-8859-15': '10 €, Škoda',
  'iso-8859-2': 'Łódź',
  'windows-1251': 'Иванов',
  'windows-1253': 'Παπαδόπουλος',
  'windows-1256': 'محمد',
  'windows-874': 'สมชาย',
  ibm866: 'Иванов',
  'koi8-u': 'Київ',
  macintosh: 'Zoë',
  shift_jis: '表ソ能ｱ髙', // second bytes of the first three are backslashes
  'euc-jp': '表日本語ｱ',
  gb18030: '中文€𠀀ḿ',
  big5: '功能許',
  'euc-kr': '한국어똠',
};

describe.each(all)('%s', (name) => {
  const codec = codecOf(name);

  it('is known to extend ASCII or not without its tables', () => {
    expect(extendsAscii(name)).toBe(codec.extendsAscii);
  });

  it('says of any bytes whether all of them are characters', () => {
    fc.assert(
      fc.property(noise, (raw) => {
        const decoded = codec.decode(Buffer.from(raw));
        expect(decoded.clean).toBe(decoded.text.isWellFormed());
      }),
    );
  });

  it('writes what reads back as the same text, or names the character that it cannot hold', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 12 }), (text) => {
        const encoded = codec.encode(text);
        if (encoded.ok) expect(codec.decode(encoded.bytes)).toEqual({ text, clean: true });
        else expect(codec.encode(encoded.character).ok).toBe(false);
      }),
    );
    fc.assert(
      fc.property(noise, (raw) => {
        const { text, clean } = codec.decode(Buffer.from(raw));
        const encoded = codec.encode(text);
        expect(encoded.ok).toBe(clean);
        if (encoded.ok) expect(codec.decode(encoded.bytes).text).toBe(text);
      }),
    );
  });

  it('holds its own words and never writes another character', () => {
    const word = words[name] ?? 'abc';
    const encoded = codec.encode(word);
    expect(encoded.ok && codec.decode(encoded.bytes).text).toBe(word);
    expect(codec.encode('a\ud800')).toEqual({ ok: false, character: '\ud800' });
    if (name !== 'gb18030' && name !== 'utf-8' && !utf16.includes(name)) {
      expect(codec.encode('a💳b')).toEqual({ ok: false, character: '💳' });
      expect(codec.encode('aḿb')).toEqual({ ok: false, character: 'ḿ' });
    }
  });

  it('reads ASCII as ASCII, and shows it in its view where the source has it and nowhere else', () => {
    const ascii = String.fromCharCode(...Array.from({ length: 128 }, (_, i) => i));
    const encoded = codec.encode(ascii);
    expect(encoded.ok && codec.decode(encoded.bytes).text).toBe(ascii);
    fc.assert(
      fc.property(noise, (raw) => {
        const bytes = Buffer.from(raw);
        const view = codec.view(bytes);
        if (codec.viewUnit === 1) expect(view.length).toBe(bytes.length);
        const pick = (text: string): string => text.replaceAll(/[^,;\t|"\r\n]/g, '');
        expect(pick(view)).toBe(pick(codec.decode(bytes).text));
        if (codec.asciiSafe) expect(view).toBe(bytes.toString('latin1'));
      }),
    );
  });

  it('cuts between characters, wherever a block ends', () => {
    const word = words[name] ?? 'abc';
    const whole = codec.encode(`${word},1\n${word}${word}"${word}`);
    if (!whole.ok) throw new Error(word);
    for (let at = 0; at <= whole.bytes.length; at++) {
      const block = whole.bytes.subarray(0, at);
      const cut = codec.cutCharacter(block);
      expect(cut).toBeLessThan(4);
      expect(codec.decode(block.subarray(0, at - cut)).clean).toBe(true);
      if (cut > 0 && !utf16.includes(name)) expect(codec.decode(block).clean).toBe(false);
    }
  });
});

describe.each(all)('%s, cut into parts', (name) => {
  const codec = codecOf(name);

  it('has the view that all of it has, whatever the bytes are', () => {
    fc.assert(
      fc.property(noise, fc.integer({ min: 8, max: 40 }), (raw, most) => {
        const bytes = Buffer.from(raw);
        let view = '';
        for (let from = 0; from < bytes.length;) {
          const part = bytes.subarray(from, from + most);
          const isLast = from + part.length === bytes.length;
          const whole = part.subarray(0, part.length - (isLast ? 0 : codec.cutCharacter(part)));
          expect(whole.length).toBeGreaterThan(0);
          view += codec.view(whole);
          from += whole.length;
        }
        expect(view).toBe(codec.view(bytes));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is complete where no byte can be damaged, and nowhere else', () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    expect(codec.isComplete).toBe(singleByte.includes(name) && codec.decode(bytes).clean);
  });
});

describe('damaged bytes', () => {
  it('are in the text as lone surrogates, and UTF-8 can be put back byte for byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (raw) => {
        const bytes = Buffer.from(raw);
        expect(restoreBytes(codecOf('utf-8').decode(bytes).text).equals(bytes)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each<[Encoding, string, string]>([
    ['utf-8', '61f09f92', 'a\udcf0\udc9f\udc92'],
    ['utf-16le', '61003dd8', 'a\ud83d'],
    ['utf-16le', '610062', 'a\udc62'],
    ['utf-16be', '006100', 'a\udc00'],
    ['windows-1253', '61aa62', 'a\udcaab'],
    ['shift_jis', '81227c', '\udc81"|'],
    ['gb18030', '8130812c', '\udc810\udc81,'],
    ['big5', '81', '\udc81'],
  ])('%s %s', (name, hex, text) => {
    expect(codecOf(name).decode(Buffer.from(hex, 'hex'))).toEqual({ text, clean: false });
  });

  it('and a genuine U+FFFD is none', () => {
    for (const name of ['utf-8', 'utf-16le', 'utf-16be'] as const) {
      const encoded = codecOf(name).encode('a\ufffd');
      expect(encoded.ok && codecOf(name).decode(encoded.bytes)).toEqual({ text: 'a\ufffd', clean: true });
    }
  });
});

describe('single bytes', () => {
  it('are as windows-1252 has them where it differs from Latin-1', () => {
    const bytes = Buffer.from([0x80, 0x92, 0xe9]);
    expect(codecOf('windows-1252').decode(bytes).text).toBe('€’é');
    expect(codecOf('iso-8859-1').decode(bytes).text).toBe('\u0080\u0092é');
  });

  // The Encoding Standard has C1 controls where iconv-lite has nothing, and later characters.
  const differing: Readonly<Record<string, readonly number[]>> = {
    'koi8-u': [0xae, 0xbe],
    macintosh: [0xbd, 0xdb, 0xf0],
  };

  it.each(singleByte.filter((name) => iconv.encodingExists(name)))('%s agrees with iconv-lite', (name) => {
    for (let byte = 0; byte < 256; byte++) {
      const theirs = iconv.decode(Buffer.from([byte]), name);
      const ours = codecOf(name).decode(Buffer.from([byte])).text;
      if (theirs === '\ufffd' || differing[name]?.includes(byte) === true) continue;
      expect([byte, ours]).toEqual([byte, theirs]);
    }
  });
});

describe('East Asian characters', () => {
  /** Private characters, and signs that ICU reads as the similar one beside. */
  const isDisputed = (text: string): boolean => /[\ue000-\uf8ff\ufe10-\ufe19\u0080-\u009f]/.test(text);

  /** ICU has the block that the Encoding Standard has half as wide. */
  const differing: Readonly<Record<string, readonly string[]>> = { big5: ['f9fe ▓ ￭'] };

  it.each(eastAsian)('%s agrees with TextDecoder about pairs', (name) => {
    const decoder = new TextDecoder(name);
    const found: string[] = [];
    let compared = 0;
    for (let pair = 0x8130; pair <= 0xfefe; pair++) {
      const bytes = Buffer.from([pair >> 8, pair & 0xff]);
      const theirs = decoder.decode(bytes);
      const ours = codecOf(name).decode(bytes);
      if (!ours.clean || theirs.length !== 1 || theirs === '\ufffd' || isDisputed(theirs + ours.text))
        continue;
      compared += 1;
      if (theirs !== ours.text) found.push(`${pair.toString(16)} ${theirs} ${ours.text}`);
    }
    expect(compared).toBeGreaterThan(6_000);
    expect(found).toEqual(differing[name] ?? []);
  });
});

it('€ in gb18030 has the two bytes of the standard, and is read from the one of Windows too', () => {
  const codec = codecOf('gb18030');
  expect(codec.encode('€5')).toEqual({ ok: true, bytes: Buffer.from([0xa2, 0xe3, 0x35]) });
  expect(codec.decode(Buffer.from([0x80, 0x35])).text).toBe('€5');
});
