import { done, type Outcome } from '../../contract/errors.ts';
import type { CanaryCell as ShownCell } from '../../contract/models/batch.ts';
import { cleartext, noteCleartext, openCleartext, type Cleartext } from '../../util/cleartext.ts';
import { maskReason } from '../../masking/masking.ts';
import { isInside, sentValues } from '../planning/inside-cells.ts';
import { caseFlaw } from '../planning/row-case.ts';
import type { ColumnWork, ValueWork } from '../planning/column-work.ts';
import { inputMask, showInput, showResult, type MaskedColumns } from '../planning/plan.ts';
import { fits, isBlankCell } from '../reading/fit.ts';
import { beginning, readRows, type Format } from '../reading/read-rows.ts';
import { asCode, rowStates, stateOf } from '../storing/results.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import type { Position } from '../storing/journal.ts';
import { explain } from './chunk.ts';
import type { Slot } from './coalescing.ts';
import type { SameRows } from './same-answers.ts';
import { yieldToOthers } from '../../util/turns.ts';

/** So many values of a file are sent before all others. */
export const canarySize = 200;
/** Fewer say nothing about the rest. */
const minCanary = 20;
/** Places of the file that they are taken from, at most twice as many. */
const canaryPlaces = 16;
/** The brake looks at so many values, the last that were answered. */
export const brakeWindow = 500;

/** Why a run pauses by itself: of `of` values of one column, `failed` were refused. */
export interface Braked {
  /** Position in the plan. */
  readonly index: number;
  readonly failed: number;
  readonly of: number;
  /** Where it is for different values that got the same answer: the rows of the first two. */
  readonly sameRows: SameRows | null;
}

interface CanaryCell {
  readonly row: number;
  /** Position in the plan. */
  readonly index: number;
  readonly work: ValueWork;
  readonly value: Cleartext;
}

/**
 * The values that a run sends first. Their answers stay in memory until the job ends, so that none of them is sent a
 * second time when its row is reached.
 */
export interface Canary {
  /** Failures: file.*, row.field-too-long. */
  readonly choose: () => Promise<Outcome<CanaryCell[]>>;
  /** Null until all of them were answered. */
  answered: readonly (CanaryCell & { readonly slot: Slot })[] | null;
}

/** Positions spread over a file, collected while it is read from its beginning: never more than a few. */
export function createSpread(): {
  readonly add: (start: Position) => void;
  readonly positions: readonly Position[];
} {
  let positions: Position[] = [];
  let step = 1;
  let seen = 0;
  return {
    add(start) {
      if (seen++ % step !== 0) return;
      positions.push(start);
      if (positions.length <= canaryPlaces * 2) return;
      positions = positions.filter((_, index) => index % 2 === 0);
      step *= 2;
    },
    get positions() {
      return positions;
    },
  };
}

export interface ChooseCanaryOptions {
  readonly source: Pick<ByteSource, 'identity' | 'read'>;
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  /** Where rows begin, spread over the file; its beginning where none is known. */
  readonly starts: readonly Position[];
  /** Of a value, in characters. */
  readonly maxLength: number;
}

/**
 * Different values of all mapped columns, `canarySize` at most, from a chunk at each of the starts. None of a file that
 * has no more than those: there would be nothing left to hold back. Failures: file.*, row.field-too-long.
 */
export async function chooseCanary(options: ChooseCanaryOptions): Promise<Outcome<CanaryCell[]>> {
  const { source, format, work, maxLength } = options;
  const starts = options.starts.length === 0 ? [beginning(format)] : options.starts;
  const values = new Map(work.flatMap((one) => one.values.map(({ key }) => [key, new Set<string>()])));
  const perCall = Math.floor(canarySize / values.size);
  const perStart = Math.ceil(perCall / starts.length);
  const cells: CanaryCell[] = [];
  let isWholeFile = false;
  let rows = 0;
  for (const [place, start] of starts.entries()) {
    for await (const read of readRows(source, format, start)) {
      if (!read.ok) return read;
      // A file of blank lines is read to its end.
      await yieldToOthers();
      const { table, flaws, end } = read.value;
      rows += table.count;
      isWholeFile = starts.length === 1 && end.offset === source.identity.size && rows <= perCall;
      const step = Math.max(1, Math.floor(table.count / perStart));
      for (let i = 0; i * step < table.count; i++) {
        // Not every step's first row: rows often repeat something every ten or hundred.
        const r = i * step + ((i * 7_919) % step);
        if (r >= table.count || flaws.has(r) || caseFlaw(table, r, work[0]?.caseColumn) !== null) continue;
        work.forEach((one, index) => {
          const cell = table.value(r, one.plan.column);
          if (isBlankCell(cell)) return;
          const { operation } = one.plan;
          for (const { sent, work: own } of sentValues(one, cell)) {
            const known = values.get(own.key);
            if (known === undefined || known.has(sent) || known.size >= perStart * (place + 1)) continue;
            if (known.size >= perCall || !fits(sent, own.kind, { operation, maxLength })) continue;
            known.add(sent);
            cells.push({ row: start.row + r, index, work: own, value: noteCleartext(cleartext(sent)) });
          }
        });
      }
      if (starts.length > 1 || [...values.values()].every(({ size }) => size >= perCall)) break;
    }
  }
  return done(isWholeFile || cells.length < minCanary ? [] : cells);
}

/** The call of which more than half of the first values were refused; null where there is none. */
export function judgeCanary(answered: NonNullable<Canary['answered']>): Braked | null {
  for (const cells of Map.groupBy(answered, ({ work }) => work.key).values()) {
    const failed = cells.filter(({ slot }) => isRefused(slot)).length;
    if (failed * 2 > cells.length)
      return { index: cells[0]?.index ?? 0, failed, of: cells.length, sameRows: null };
  }
  return null;
}

/** Whether the answer was that this value can't be had. Trouble of the service says nothing about the values. */
export const isRefused = ({ state, text }: Pick<Slot, 'state' | 'text'>): boolean =>
  state === rowStates.failed && asCode(text) !== 'service.failing';

/** The last values of one call that were answered. */
export function createRefusalWindow(): { add(slots: readonly Slot[]): number | null } {
  const refused = new Uint8Array(brakeWindow);
  let seen = 0;
  let count = 0;
  return {
    /** How many of the last values were refused, if that is more than half of them; else null. */
    add(slots) {
      for (const slot of slots) {
        const at = seen++ % brakeWindow;
        const now = isRefused(slot) ? 1 : 0;
        count += now - (refused[at] ?? 0);
        refused[at] = now;
      }
      return seen >= brakeWindow && count * 2 > brakeWindow ? count : null;
    },
  };
}

/** The first values as the window may see them: before and after, each behind the mask it has in the table. */
export function showCanary(
  canary: Canary | null,
  { work, masked }: { readonly work: readonly ColumnWork[]; readonly masked: MaskedColumns },
): ShownCell[] {
  return (canary?.answered ?? []).flatMap(({ row, index, work: { kind }, value, slot }) => {
    const one = work[index];
    if (one === undefined) return [];
    const { plan } = one;
    const state = stateOf(slot.state);
    const isOk = state === 'ok';
    const code = state === 'failed' ? asCode(explain(slot, { plan, kind })) : null;
    // A value out of a text is hidden as one that is a cell.
    const maskedAs = isInside(one) && plan.operation === 'tokenize' ? kind : inputMask(one, masked);
    const hidden = maskedAs === null ? '' : openCleartext(value);
    const reason = slot.reason === undefined ? null : maskReason(slot.reason, hidden, kind);
    const isToken = (isOk || state === 'matched') && plan.operation !== 'tokenize';
    return [
      {
        row,
        column: plan.column,
        before: clip(showInput(value, { maskedAs, isToken })),
        after: isOk ? clip(showResult(noteCleartext(slot.text), { kind, operation: plan.operation })) : '',
        state,
        code,
        reason,
      },
    ];
  });
}

const clip = (text: string): string => text.slice(0, 500).toWellFormed();
