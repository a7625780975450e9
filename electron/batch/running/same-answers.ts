import { operationInfo } from '../../contract/operations.ts';
import { cleartext, openCleartext } from '../../util/cleartext.ts';
import { isEcho } from '../../service/answers.ts';
import type { BatchCall } from '../../service/service-client.ts';
import { rowStates } from '../storing/results.ts';
import type { Slot } from './coalescing.ts';

/** Answers of one call that are remembered, in each of two generations: a new one is compared with those. */
const remembered = 4_096;
/** Pairs of values with one answer, after which a run pauses by itself. */
export const maxSameAnswers = 3;

/** The rows of two values that have the same answer. */
export type SameRows = [number, number];

/**
 * Finds different values of one call that got one and the same answer. A token that stands for two values can't be
 * detokenized to either, so both fail. Rows of the earlier one that are written already stay: one of the two may be right.
 * Values that differ in case, spaces or hyphens alone may have one token.
 */
export function createSameAnswers(): {
  /** How many pairs there were so far, and the first; null where there is none. */
  add(slots: readonly Slot[]): { readonly pairs: number; readonly first: SameRows } | null;
} {
  let young = new Map<string, Slot>();
  let old = new Map<string, Slot>();
  let pairs = 0;
  let first: SameRows | null = null;
  return {
    add(slots) {
      for (const slot of slots) {
        if (slot.state !== rowStates.ok) continue;
        const text = openCleartext(slot.text);
        const known = young.get(text) ?? old.get(text);
        if (known === undefined) {
          if (young.size >= remembered) {
            old = young;
            young = new Map();
          }
          young.set(text, slot);
        } else if (isOther(known, slot)) {
          pairs += 1;
          first ??= [known.row, slot.row];
          failSame(slot);
          failSame(known);
        }
      }
      return first === null ? null : { pairs, first };
    },
  };
}

/** Answers of one detokenization from which on they are looked at, and the share of one that is not believed. */
const minAnswers = 100;
const oneForAll = 0.95;

/**
 * Finds one answer that nearly all tokens got. Two tokens of one value may exist where tokens are random, so nothing
 * fails: a person is asked once.
 */
function createOneAnswer(): ReturnType<typeof createSameAnswers> {
  let candidate: Slot | null = null;
  let other: Slot | null = null;
  /** By how many the answer of the candidate leads the others. */
  let lead = 0;
  let all = 0;
  return {
    add(slots) {
      for (const slot of slots) {
        if (slot.state !== rowStates.ok) continue;
        all += 1;
        if (candidate === null || lead === 0) {
          candidate = slot;
          other = null;
          lead = 1;
        } else if (openCleartext(slot.text) === openCleartext(candidate.text)) {
          lead += 1;
          other ??= slot;
        } else lead -= 1;
      }
      // The one has `share` of all, the others the rest: it leads by twice the share less all.
      const isSuspect = all >= minAnswers && lead >= (2 * oneForAll - 1) * all;
      if (!isSuspect || candidate === null || other === null) return null;
      return { pairs: lead, first: [candidate.row, other.row].sort((a, b) => a - b) as SameRows };
    },
  };
}

/**
 * What looks at the answers of a call; null where they may be the same, as masks and matches often are. `randomTokens`: as
 * the profile has it.
 */
export function createAnswerCheck(
  { operation }: Pick<BatchCall, 'operation'>,
  { randomTokens }: { readonly randomTokens: boolean },
): ReturnType<typeof createSameAnswers> | null {
  if (operation === 'BatchDetokenize') return createOneAnswer();
  if (operationInfo[operation].gives !== 'token') return null;
  return operation === 'BatchTranslate' && randomTokens ? createOneAnswer() : createSameAnswers();
}

const isOther = ({ value: one }: Slot, { value: other }: Slot): boolean =>
  one !== other && !isEcho(one.normalize('NFKC'), other.normalize('NFKC'));

function failSame(slot: Slot): void {
  slot.state = rowStates.failed;
  slot.text = cleartext('service.same-answer');
}
