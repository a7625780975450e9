import { type ValueKind, valueKinds } from '../../contract/value-kinds.ts';
import { mostValues, type ValueSpan, valueSpans } from '../../masking/value-spans.ts';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Marks } from '../../contract/models/batch.ts';
import { bareOf, lengthOfForm, readWritten, writeForm, type WrittenValue } from './written-form.ts';

/*
 * Values in the middle of a text. Each is tokenized where it stands, and its token stands between marks, from which
 * Detokenize finds it again: `paid with [[card 4-4-4-4 token:TOKEN]] today`.
 */

/** One value of a cell that is sent: the cleartext or the token, and how it is written. */
export interface InsideValue extends ValueSpan {
  readonly sent: string;
  readonly form: string;
}

/** Behind a form: without a letter its digits and those of a token would be one number, which may look like another card. */
const formEnd = ' token';

/** How a mark begins: what opens it, and its kind. */
interface Head {
  readonly kind: ValueKind;
  readonly from: number;
  readonly to: number;
}

function nextHead(text: string, { open }: Marks, begin: number): Head | null {
  for (let from = text.indexOf(open, begin); from >= 0; from = text.indexOf(open, from + 1)) {
    const named = from + open.length;
    const kind = valueKinds.find((one) => {
      const behind = text[named + one.length];
      return (behind === ' ' || behind === ':') && text.startsWith(one, named);
    });
    if (kind !== undefined) return { kind, from, to: named + kind.length };
  }
  return null;
}

/** The values that are tokenized. Failures: value.marks-inside, value.many-inside, value.spelled-inside. */
export function findCleartext(
  text: string,
  { kinds, marks }: { readonly kinds: Pick<ReadonlySet<ValueKind>, 'has'>; readonly marks: Marks },
): Outcome<InsideValue[]> {
  if (nextHead(text, marks, 0) !== null) return failed('value.marks-inside');
  const spans = valueSpans(text, kinds);
  if (!spans.ok) return spans;
  return done(
    spans.value.map((span) => {
      const { bare, form } = readWritten(span.kind, text.slice(span.from, span.to));
      return { ...span, sent: bare, form };
    }),
  );
}

/** The tokens between marks. Failures: value.mark-broken, value.many-inside. */
export function findTokens(text: string, marks: Marks): Outcome<InsideValue[]> {
  const found: InsideValue[] = [];
  for (let head = nextHead(text, marks, 0); head !== null; head = nextHead(text, marks, head.to)) {
    const { kind, from, to: formFrom } = head;
    if (found.length === mostValues) return failed('value.many-inside');
    // Within the token of another.
    if (from < (found.at(-1)?.to ?? 0)) return failed('value.mark-broken');
    const colon = text.indexOf(':', formFrom);
    const end = text.indexOf(marks.close, colon + 1);
    if (colon < 0 || end <= colon + 1) return failed('value.mark-broken');
    const between = text.slice(formFrom, colon);
    if (between !== '' && !between.endsWith(formEnd)) return failed('value.mark-broken');
    found.push({
      kind,
      from,
      to: end + marks.close.length,
      sent: text.slice(colon + 1, end),
      form: between === '' ? '' : between.slice(1, -formEnd.length),
    });
  }
  return done(found);
}

/**
 * What a text has in place of the marks of `marked`, which was made of it: the values in clear, without another look for them.
 * Null where the one is not the other but for its marks, or it can't be told how long each value is.
 */
export function valuesBehind(text: string, marked: string, marks: Marks): string[] | null {
  const found = findTokens(marked, marks);
  if (!found.ok) return null;
  const lengths = found.value.map(({ form }) => lengthOfForm(form));
  const inMarks = found.value.reduce((sum, { from, to }) => sum + to - from, 0);
  const known = lengths.reduce<number>((sum, length) => sum + (length ?? 0), 0);
  const left = text.length - (marked.length - inMarks) - known;
  if (left < 0 || lengths.filter((length) => length === null).length > 1) return null;
  const values: string[] = [];
  let at = 0;
  let end = 0;
  for (const [n, { from, to, kind }] of found.value.entries()) {
    const between = marked.slice(end, from);
    if (!text.startsWith(between, at)) return null;
    const begin = at + between.length;
    at = begin + (lengths[n] ?? left);
    end = to;
    values.push(bareOf(kind, text.slice(begin, at)));
  }
  return text.slice(at) === marked.slice(end) ? values : null;
}

/** The text with a token in marks in place of each value. Failure: value.mark-broken, where a token is like a mark. */
export function putTokens(
  text: string,
  values: readonly InsideValue[],
  { tokens, marks }: { readonly tokens: readonly string[]; readonly marks: Marks },
): Outcome<string> {
  const lengths: number[] = [];
  const marked = replaceSpans(text, values, ({ kind, form }, at) => {
    const shown = form === '' ? '' : ` ${form}${formEnd}`;
    const mark = `${marks.open}${kind}${shown}:${tokens[at] ?? ''}${marks.close}`;
    lengths.push(mark.length);
    return mark;
  });
  if (marked === null) return failed('value.mark-broken');
  // What can't be found again, or would not come back as it was, would be lost.
  const again = findTokens(marked, marks);
  if (!again.ok || again.value.length !== values.length) return failed('value.mark-broken');
  /** How much further a place is in the marked text. */
  let shift = 0;
  const isFound = again.value.every(({ from, to, sent, kind, form }, at) => {
    const value = values[at];
    const length = lengths[at] ?? 0;
    if (value === undefined || from !== value.from + shift || to !== from + length) return false;
    shift += length - (value.to - value.from);
    // Where each mark stands as it was put, the text between them is the same.
    return (
      sent === tokens[at] &&
      kind === value.kind &&
      writeForm({ bare: value.sent, form }) === text.slice(value.from, value.to)
    );
  });
  return isFound ? done(marked) : failed('value.mark-broken');
}

/** The text with each value as it stood in place of its mark. Failure: value.mark-broken, where a form is not of its value. */
export function putCleartext(
  text: string,
  values: readonly InsideValue[],
  cleartexts: readonly string[],
): Outcome<string> {
  const written = replaceSpans(text, values, ({ form }, at) => {
    const value: WrittenValue = { bare: cleartexts[at] ?? '', form };
    return writeForm(value);
  });
  return written === null ? failed('value.mark-broken') : done(written);
}

/** Null where one can't be replaced, or begins within another. */
function replaceSpans(
  text: string,
  values: readonly InsideValue[],
  by: (value: InsideValue, at: number) => string | null,
): string | null {
  let changed = '';
  let end = 0;
  for (const [at, value] of values.entries()) {
    const part = by(value, at);
    if (part === null || value.from < end) return null;
    changed += text.slice(end, value.from) + part;
    end = value.to;
  }
  return changed + text.slice(end);
}
