import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAccount, type Definition } from '../../../../electron/built-in-service/account.ts';
import { createEmail } from '../../../../electron/built-in-service/engine/email.ts';
import { expandAesKey, createFf1 } from '../../../../electron/built-in-service/engine/ff1.ts';
import {
  detokenizeAll,
  tokenizeAll,
  type FormatOutcome,
} from '../../../../electron/built-in-service/engine/format.ts';
import { createFreeText } from '../../../../electron/built-in-service/engine/free-text.ts';
import { isLuhnValid, luhnDigitBetween } from '../../../../electron/built-in-service/engine/card-number.ts';
import { seedSchema, type Seed } from '../../../../electron/built-in-service/seed.ts';
import { anyCharacter } from '../../../support/any-character.ts';

const secret = new Uint8Array(32).fill(9);
const seed = {
  account: { accountId: 'a', tenantId: 't' },
  apiKeys: [{ title: 'k', expiresInDays: 1 }],
  definitions: [
    { name: 'card-invalid', label: 'c', kind: 'card-number', luhn: 'invalid' },
    { name: 'card-valid', label: 'c', kind: 'card-number', luhn: 'valid' },
    { name: 'card-any', label: 'c', kind: 'card-number', luhn: 'any' },
    { name: 'ssn', label: 's', kind: 'ssn' },
    { name: 'ssn-2', label: 's', kind: 'ssn' },
    { name: 'email', label: 'e', kind: 'email' },
    { name: 'email-2', label: 'e', kind: 'email' },
    { name: 'text', label: 'f', kind: 'free-text', maxBytes: 512, masking: { keepFirst: 2, keepLast: 1 } },
    { name: 'text-2', label: 'f', kind: 'free-text' },
  ],
  policies: [{ name: 'p', grants: [] }],
} satisfies Seed;

const build = (secret: Uint8Array) => createAccount(seedSchema.parse(seed), secret, 0).definitions;
const definitions = build(secret);
const format = (name: string, from = definitions): Definition['format'] => {
  const found = from.get(name);
  if (!found) throw new Error(name);
  return found.format;
};
const valueOf = (outcome: FormatOutcome): string => {
  if (!outcome.ok) throw new Error(outcome.code);
  return outcome.value;
};

const digits = (length: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
    .map((all) => all.join(''));
const withLuhn = (partial: string): string => {
  for (let digit = 0; digit < 10; digit++) if (isLuhnValid(`${partial}${digit}`)) return `${partial}${digit}`;
  throw new Error('unreachable');
};
const separated = (number: string, separator: string) => number.match(/.{1,4}/g)?.join(separator) ?? number;
const cards = fc
  .tuple(
    fc.constantFrom(14, 15, 16, 16, 16, 16, 17, 18, 19).chain((n) => digits(n - 1)),
    fc.constantFrom('', '', ' ', '-'),
  )
  .map(([partial, separator]) => separated(withLuhn(partial), separator));
const ssns = fc
  .tuple(
    fc.integer({ min: 1, max: 899 }).filter((area) => area !== 666),
    fc.integer({ min: 1, max: 99 }),
    fc.integer({ min: 1, max: 9999 }),
    fc.constantFrom('', '-', ' '),
  )
  .map(([area, group, serial, separator]) =>
    [String(area).padStart(3, '0'), String(group).padStart(2, '0'), String(serial).padStart(4, '0')].join(
      separator,
    ),
  );
const atext = "ABCXYZabcxyz0189!#$%&'*+-/=?^_`{|}~";
const names = fc
  .array(fc.string({ unit: fc.constantFrom(...Array.from(atext)), minLength: 1, maxLength: 11 }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join('.'));
const emails = fc
  .tuple(names, fc.constantFrom('example.com', 'Mail.Example.co.uk', 'a-b.io', 'xn--bcher-kva.example'))
  .map(([name, domain]) => `${name}@${domain}`);
const texts = fc
  .oneof(
    fc.string({ unit: anyCharacter }),
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.string({ maxLength: 200 }),
  )
  .filter((text) => text !== '' && Buffer.byteLength(text) <= 512 && text.isWellFormed());

const ssnPattern = /^(?!000|666|9)\d{3}([- ]?)(?!00)\d{2}\1(?!0000)\d{4}$/;
const emailPattern = /^[0-9a-z]{14,64}@[A-Za-z0-9.-]+$/;
const shapeOf = (text: string) => text.replace(/\d/g, '9');

const kinds: [string, fc.Arbitrary<string>, (token: string, value: string) => boolean][] = [
  ['card-invalid', cards, (t, v) => shapeOf(t) === shapeOf(v) && !isLuhnValid(t.replace(/\D/g, ''))],
  ['card-valid', cards, (t, v) => shapeOf(t) === shapeOf(v) && isLuhnValid(t.replace(/\D/g, ''))],
  ['card-any', cards, (t, v) => shapeOf(t) === shapeOf(v)],
  ['ssn', ssns, (t, v) => ssnPattern.test(t) && shapeOf(t) === shapeOf(v)],
  ['email', emails, (t, v) => emailPattern.test(t) && t.split('@')[1] === v.split('@')[1]],
  ['text', texts, (t) => /^txt_[A-Za-z0-9_-]+$/.test(t)],
];

describe.each(kinds)('%s', (name, values, isWellFormed) => {
  it('gives back exactly what went in, from a well-formed token', () => {
    fc.assert(
      fc.property(values, (value) => {
        const token = valueOf(format(name).tokenize(value));
        expect(isWellFormed(token, value)).toBe(true);
        expect(valueOf(format(name).detokenize(token))).toBe(value);
      }),
      { numRuns: 400 },
    );
  });

  it('gives the same token after a restart and another one under another secret', () => {
    const again = build(secret);
    const other = build(new Uint8Array(32).fill(10));
    let differing = 0;
    fc.assert(
      fc.property(values, (value) => {
        const token = valueOf(format(name).tokenize(value));
        expect(valueOf(format(name, again).tokenize(value))).toBe(token);
        differing += token === valueOf(format(name, other).tokenize(value)) ? 0 : 1;
      }),
      { numRuns: 50 },
    );
    expect(differing).toBeGreaterThan(40);
  });

  it('refuses anything else without throwing', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: anyCharacter, maxLength: 2000 }), cards, emails),
        (text) => {
          const token = format(name).tokenize(text);
          if (token.ok) expect(valueOf(format(name).detokenize(token.value))).toBe(text);
          const value = format(name).detokenize(text);
          if (value.ok) expect(valueOf(format(name).tokenize(value.value))).toBe(text);
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe('cards', () => {
  it('keeps the BIN and the last four, and no other digit on purpose', () => {
    fc.assert(
      fc.property(cards, (card) => {
        for (const name of ['card-invalid', 'card-valid', 'card-any']) {
          const token = valueOf(format(name).tokenize(card)).replace(/\D/g, '');
          const plain = card.replace(/\D/g, '');
          expect(token.slice(0, 6) + token.slice(-4)).toBe(plain.slice(0, 6) + plain.slice(-4));
        }
      }),
      { numRuns: 100 },
    );
  });

  it.each(['card-invalid', 'card-valid'])(
    'gives every valid 16-digit card of one BIN its own token (%s)',
    (name) => {
      const tokens = new Set<string>();
      for (let rank = 0; rank < 2000; rank++) {
        const before = `411111${String(rank * 37).padStart(5, '0')}`;
        for (let digit = 0; digit < 10; digit++) {
          const card = `${before}${digit}1111`;
          if (isLuhnValid(card)) tokens.add(valueOf(format(name).tokenize(card)));
        }
      }
      expect(tokens.size).toBe(2000);
    },
  );

  it('refuses eight of nine strings made up by hand', () => {
    let accepted = 0;
    let madeUp = 0;
    for (let middle = 0; middle < 4500; middle++) {
      const token = `411111${String(middle * 211).padStart(6, '0')}1111`;
      if (isLuhnValid(token)) continue;
      madeUp += 1;
      const value = format('card-invalid').detokenize(token);
      if (!value.ok) continue;
      accepted += 1;
      expect(format('card-invalid').tokenize(value.value)).toEqual({ ok: true, value: token });
    }
    expect(accepted / madeUp).toBeGreaterThan(0.09);
    expect(accepted / madeUp).toBeLessThan(0.13);
  });

  // Tokens are kept elsewhere: whatever makes them faster must make the same.
  it.each([
    ['30569309025904', '30569398635904'],
    ['38520000023237', '38520019513237'],
    ['378282246310005', '378282793710005'],
    ['4111111111111111', '4111118003291111'],
  ])('gives %s the token it always had', (card, token) => {
    expect(valueOf(format('card-invalid').tokenize(card))).toBe(token);
    const many = tokenizeAll(format('card-invalid'), new Array<string>(9).fill(card));
    expect(new Set(many.map(valueOf))).toEqual(new Set([token]));
  });

  it.each(['card-invalid', 'card-valid', 'card-any'])(
    '%s: says of each in a batch what it says of it alone, good or bad',
    (name) => {
      const texts = fc.oneof({ weight: 5, arbitrary: cards }, fc.string(), emails);
      fc.assert(
        fc.property(fc.array(texts, { maxLength: 40 }), (values) => {
          const alone = values.map((value) => format(name).tokenize(value));
          expect(tokenizeAll(format(name), values)).toEqual(alone);
          const tokens = alone.map((outcome, at) => (outcome.ok ? outcome.value : (values[at] ?? '')));
          const back = tokens.map((token) => format(name).detokenize(token));
          expect(detokenizeAll(format(name), tokens)).toEqual(back);
        }),
        { numRuns: 50 },
      );
    },
  );

  it('refuses a card as its own token', () => {
    expect(format('card-invalid').detokenize('4111111111111111')).toEqual({
      ok: false,
      code: 'TokenInvalid',
    });
  });

  it.each([
    ['', 'ValueEmpty'],
    ['4111111111111112', 'ValueInvalid'],
    ['4222222222222', 'ValueInvalid'],
    ['41111111111111111111', 'ValueInvalid'],
    ['4111  1111 1111 1111', 'ValueInvalid'],
    ['٤١١١١١١١١١١١١١١١', 'ValueInvalid'],
    ['4111111111111111\n', 'ValueInvalid'],
  ])('refuses %j', (value, code) => {
    expect(format('card-invalid').tokenize(value)).toEqual({ ok: false, code });
  });

  it('masks to the BIN and the last four at most', () => {
    expect(format('card-invalid').mask('4111 1111 1111 1234')).toBe('4111 11** **** 1234');
    expect(format('card-invalid').mask('378282246310005')).toBe('378282*****0005');
  });
});

describe('other kinds', () => {
  it('gives different definitions different tokens', () => {
    fc.assert(
      fc.property(emails, texts, (email, text) => {
        expect(format('email').tokenize(email)).not.toEqual(format('email-2').tokenize(email));
        expect(format('text').tokenize(text)).not.toEqual(format('text-2').tokenize(text));
      }),
      { numRuns: 50 },
    );
    expect(format('ssn').tokenize('123-45-6789')).not.toEqual(format('ssn-2').tokenize('123-45-6789'));
  });

  it('refuses the tokens of another definition, where there is room to tell', () => {
    const email = valueOf(format('email').tokenize('jane@example.com'));
    const text = valueOf(format('text').tokenize('x'));
    expect(format('email-2').detokenize(email)).toEqual({ ok: false, code: 'TokenInvalid' });
    expect(format('text-2').detokenize(text)).toEqual({ ok: false, code: 'TokenInvalid' });
  });

  it('refuses what deciphers well but was never given out', () => {
    const aes = expandAesKey(new Uint8Array(32));
    const mask = { keepFirst: 1, keepLast: 0, character: '*' };

    const short = createFf1(aes, { radix: 36, length: 14, tweakLength: 8 });
    const long = createFf1(aes, { radix: 36, length: 19, tweakLength: 8 });
    const email = createEmail(aes, { mask });
    const token = valueOf(email.tokenize('jane@example.com'));
    const tweak = createHash('sha256').update('example.com').digest().subarray(0, 8);
    const parse = (text: string) =>
      Array.from(text).reduce((sum, c) => sum * 36n + BigInt(parseInt(c, 36)), 0n);
    const plain = short.decrypt(tweak, parse(token.split('@')[0] ?? ''));
    // The same name spelled in the next longer step: four symbols more, all empty.
    const respelled = long
      .encrypt(tweak, plain * 83n ** 4n)
      .toString(36)
      .padStart(19, '0');
    expect(email.detokenize(`${respelled}@example.com`)).toEqual({ ok: false, code: 'TokenInvalid' });

    const text = createFreeText(aes, { maxBytes: 512, mask });
    const wide = createFf1(aes, { radix: 256, length: 12, tweakLength: 0 });
    const tokenOf = (hex: string) => {
      const y = wide.encrypt(new Uint8Array(0), BigInt(`0x${hex.padEnd(24, '0')}`));
      return `txt_${Buffer.from(y.toString(16).padStart(24, '0'), 'hex').toString('base64url')}`;
    };
    expect(text.detokenize(tokenOf('000000006180'))).toEqual({ ok: true, value: 'a' });
    for (const hex of [
      '00000000ff80',
      '000000016180',
      '0000000061',
      '0000000080',
      '00000000',
      '000000006181',
    ]) {
      expect(text.detokenize(tokenOf(hex)), hex).toEqual({ ok: false, code: 'TokenInvalid' });
    }
  });

  it.each([
    ['ssn', '000-12-3456', 'ValueInvalid'],
    ['ssn', '666-12-3456', 'ValueInvalid'],
    ['ssn', '900-12-3456', 'ValueInvalid'],
    ['ssn', '123-00-3456', 'ValueInvalid'],
    ['ssn', '123-45-0000', 'ValueInvalid'],
    ['ssn', '123-456789', 'ValueInvalid'],
    ['email', 'no-at.example.com', 'ValueInvalid'],
    ['email', 'two..dots@example.com', 'ValueInvalid'],
    ['email', '"quoted"@example.com', 'ValueInvalid'],
    ['email', `${'n'.repeat(49)}@example.com`, 'ValueTooLong'],
    ['email', `n@${'d'.repeat(250)}.com`, 'ValueTooLong'],
    ['text', '', 'ValueEmpty'],
    ['text', 'ä'.repeat(257), 'ValueTooLong'],
    ['text', 'half a pair \ud83d', 'ValueInvalid'],
  ])('%s refuses %j as %s', (name, value, code) => {
    expect(format(name).tokenize(value)).toEqual({ ok: false, code });
  });

  it('masks without telling the length', () => {
    expect(format('ssn').mask('123-45-6789')).toBe('***-**-6789');
    expect(format('email').mask('jane.doe@example.com')).toBe('j***@example.com');
    expect(format('email').mask('j@example.com')).toBe('***@example.com');
    expect(format('text').mask('abc')).toBe('********');
    expect(format('text').mask('🙂🙃 and so on 🙂')).toBe('🙂🙃********🙂');
  });
});

describe('the Luhn check', () => {
  const digits = fc.stringMatching(/^[0-9]{0,12}$/);

  it('knows published numbers', () => {
    expect(['4111111111111111', '378282246310005', '79927398713'].map(isLuhnValid)).toEqual([
      true,
      true,
      true,
    ]);
    expect(['4111111111111112', '79927398710'].map(isLuhnValid)).toEqual([false, false]);
  });

  it('finds the one digit that makes a number pass, wherever it stands', () => {
    fc.assert(
      fc.property(digits, digits, (before, after) => {
        const found = luhnDigitBetween(before, after);
        const passing = Array.from({ length: 10 }, (_, digit) => digit).filter((digit) =>
          isLuhnValid(`${before}${digit}${after}`),
        );
        expect(passing).toEqual([found]);
      }),
    );
  });
});
