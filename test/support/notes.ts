import type { ValueKind } from '../../electron/contract/value-kinds.ts';

/** A text as a call centre writes it, with the values that stand in it. */
export interface Note {
  readonly text: string;
  readonly values: readonly { readonly kind: ValueKind; readonly value: string; readonly at: number }[];
}

/** Numbers from 0 to below 1, the same for one seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const words =
  'the customer called about a payment and wants it back please refund to account invoice from Zürich straße 😀 日本 tel ok – “quoted” it’s 100% a;b c,d [x] {y} |'.split(
    ' ',
  );
const signs = [', ', ' ', '; ', ': ', ' (', '\n', '\t', ' – ', '. '];
const cardStarts: readonly (readonly [start: string, length: number])[] = [
  ['4', 16],
  ['51', 16],
  ['2221', 16],
  ['37', 15],
  ['6011', 16],
  ['3528', 16],
];
const countries: readonly (readonly [string, number])[] = [
  ['DE', 18],
  ['AT', 16],
  ['ES', 20],
  ['BE', 12],
];

export function createNotes(seed: number): { next: () => Note; digits: (count: number) => string } {
  const random = seeded(seed);
  const below = (end: number): number => Math.floor(random() * end);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const digits = (count: number): string => Array.from({ length: count }, () => String(below(10))).join('');

  function withCheck(start: string, length: number): string {
    const body = start + digits(length - 1 - start.length);
    const sum = Array.from(body)
      .reverse()
      .reduce((all, digit, at) => {
        const doubled = at % 2 === 0 ? Number(digit) * 2 : Number(digit);
        return all + (doubled > 9 ? doubled - 9 : doubled);
      }, 0);
    return body + String((10 - (sum % 10)) % 10);
  }

  function card(): string {
    const number = withCheck(...pick(cardStarts));
    const by = pick(['', '', ' ', '-', '.', '\u00a0']);
    return number.length === 15
      ? [number.slice(0, 4), number.slice(4, 10), number.slice(10)].join(by)
      : (number.match(/.{4}/g) ?? []).join(by);
  }

  function iban(): string {
    const [country, length] = pick(countries);
    const account = digits(length);
    const check = 98n - (BigInt(account + countryDigits(country) + '00') % 97n);
    const whole = country + String(check).padStart(2, '0') + account;
    const written = below(2) === 0 ? whole : (whole.match(/.{1,4}/g) ?? []).join(' ');
    return below(4) === 0 ? written.toLowerCase() : written;
  }

  const ssn = (): string => `${100 + below(500)}-${10 + below(80)}-${1_000 + below(9_000)}`;
  const email = (): string =>
    `${pick(['anna', 'b.meier', 'j_r', 'office+1'])}@${pick(['bank.example', 'mail.example.org', 'Firma.example'])}`;
  const makers: Readonly<Record<ValueKind, () => string>> = { card, ssn, iban, email };

  /** What is hard to tell from a card: an order number whose check digit fits. */
  const orderNumber = (): string =>
    pick([
      () => `order ${withCheck(pick(['1', '7', '9', '20', '80']), pick([13, 14, 16]))}`,
      () => `ref ${withCheck(pick(['4', '51', '6011']), 16)}`,
      () => `ticket ${digits(12)}`,
      () => `tel +49 ${digits(3)} ${digits(7)}`,
      () => `on 2026-0${1 + below(9)}-1${below(10)} 12:3${below(10)}:00`,
      () => `id ${digits(8)}-${digits(4)}-4${digits(3)}-a${digits(3)}-${digits(12)}`,
      () => `${below(900)},${below(900)},${below(900)}`,
    ])();

  return {
    digits,
    next() {
      let text = '';
      const values: { kind: ValueKind; value: string; at: number }[] = [];
      const count = 2 + below(12);
      for (let part = 0; part < count; part++) {
        const chance = random();
        if (chance < 0.15) {
          const kind = pick(['card', 'ssn', 'iban', 'email'] as const);
          const value = makers[kind]();
          values.push({ kind, value, at: text.length });
          text += value;
        } else text += chance < 0.3 ? orderNumber() : pick(words);
        text += part + 1 < count ? pick(signs) : '';
      }
      return { text, values };
    },
  };
}

const countryDigits = (country: string): string =>
  Array.from(country, (letter) => String(parseInt(letter, 36))).join('');
