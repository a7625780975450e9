import type { ValueKind } from '../contract/value-kinds.ts';
import { someCard } from './cards.ts';
import { heldValues, isAddress, mayHoldValueIn, ssnWord, toldSsn } from './find-values.ts';
import { replaceIbans } from './ibans.ts';
import { digitRun, emailLike, isPossibleSsn, mayHoldNumber, writtenSsn } from './masking.ts';
import { idsIn } from './plain-text.ts';

/** A value and where it stands in its text. */
export interface ValueSpan {
  readonly kind: ValueKind;
  readonly from: number;
  readonly to: number;
}

/** Behind an address it is the sentence's: with it the same address would be another value. */
const sentenceEnd = /[.!?]+$/;
/** A letter: nothing that is looked for goes on across it. */
const filler = 'x';

/** The text with something else in place of some of it. Positions stay. */
function fill(text: string, spans: readonly Pick<ValueSpan, 'from' | 'to'>[]): string {
  let filled = text;
  for (const { from, to } of spans)
    filled = filled.slice(0, from) + filler.repeat(to - from) + filled.slice(to);
  return filled;
}

/**
 * The values of a text as `eachValue` counts them, in the order they stand in. Null where it has one that is written in
 * other characters than its own, as `&#52;111…`: what is put in its place could not be taken back byte for byte.
 */
export function valueSpans(text: string, kinds: ReadonlySet<ValueKind>): ValueSpan[] | null {
  if (!mayHoldNumber(text)) return [];
  const spans: ValueSpan[] = [];
  let rest = text;
  const take = (found: readonly ValueSpan[]): void => {
    spans.push(...found);
    rest = fill(rest, found);
  };
  if (text.includes('@'))
    take(
      Array.from(rest.matchAll(emailLike))
        .filter(({ 0: address }) => isAddress(address))
        .map(({ index, 0: address }) => ({
          kind: 'email',
          from: index,
          to: index + address.replace(sentenceEnd, '').length,
        })),
    );
  rest = fill(rest, idsIn(rest));
  const ibans: ValueSpan[] = [];
  replaceIbans(rest, (iban, from) => {
    ibans.push({ kind: 'iban', from, to: from + iban.length });
    return iban;
  });
  take(ibans);
  take(cardSpans(rest));
  if (mayHoldNumber(rest)) {
    take(ssnSpans(rest, writtenSsn));
    if (ssnWord.test(rest)) take(ssnSpans(rest, toldSsn));
  }
  const left = mayHoldValueIn(rest) ? heldValues(rest) : {};
  if ([...kinds].some((kind) => left[kind] !== undefined)) return null;
  return spans.filter(({ kind }) => kinds.has(kind)).sort((a, b) => a.from - b.from);
}

function cardSpans(text: string): ValueSpan[] {
  const cards: ValueSpan[] = [];
  for (const { index, 0: run } of text.matchAll(digitRun))
    someCard(run, 'issued', (_, first, end, at) => {
      const from = index + (at[first] ?? 0);
      // One that begins in the last digits of another stays, and is found to be left.
      if (from >= (cards.at(-1)?.to ?? 0))
        cards.push({ kind: 'card', from, to: index + (at[end - 1] ?? 0) + 1 });
      return false;
    });
  return cards;
}

const ssnSpans = (text: string, written: RegExp): ValueSpan[] =>
  Array.from(text.matchAll(written))
    .filter(({ 0: ssn }) => isPossibleSsn(ssn.replaceAll(/[^0-9]/g, '')))
    .map(({ index, 0: ssn }) => ({ kind: 'ssn', from: index, to: index + ssn.length }));
