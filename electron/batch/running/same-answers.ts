import { operationInfo } from '../../contract/operations.ts';
import { cleartext, openCleartext } from '../../util/cleartext.ts';
import { isEcho } from '../../service/answers.ts';
import type { BatchCall } from '../../service/service-client.ts';
import { rowStates } from '../storing/results.ts';
import { AnswerTable, type StoredAnswer } from './answer-table.ts';
import type { Slot } from './coalescing.ts';

/** Slots of one call that are remembered, in each of two generations: one of them may still be failed. */
const remembered = 4_096;
/** Pairs of values with one answer, after which a run pauses by itself. */
export const maxSameAnswers = 3;

/** The rows of two values that have the same answer. */
export type SameRows = [number, number];

interface AnswerCheck {
  /** How many pairs there were so far, and the first; null where there is none. */
  add(slots: readonly Slot[]): { readonly pairs: number; readonly first: SameRows } | null;
}

/**
 * Finds different values of one call that got one and the same answer. A token that stands for two values can't be
 * detokenized to either, so both fail. Rows of the earlier one that are written already stay: one of the two may be right.
 * Values that differ in case, spaces or hyphens alone may have one token. `otherRow`: see `AnswerTable`.
 */
export function createSameAnswers(otherRow: (answer: StoredAnswer) => number | null): AnswerCheck {
  let young = new Map<string, Slot>();
  let old = new Map<string, Slot>();
  let pairs = 0;
  let first: SameRows | null = null;
  const found = (earlier: number, slot: Slot): void => {
    pairs += 1;
    first ??= [earlier, slot.row];
    failSame(slot);
  };
  return {
    add(slots) {
      for (const slot of slots) {
        if (slot.state !== rowStates.ok) continue;
        const answer = openCleartext(slot.text);
        const known = young.get(answer) ?? old.get(answer);
        if (known !== undefined) {
          if (!isOther(known, slot)) continue;
          found(known.row, slot);
          failSame(known);
          continue;
        }
        const other = otherRow({ answer, value: slot.value, row: slot.row });
        if (other !== null) {
          found(other, slot);
          continue;
        }
        if (young.size >= remembered) {
          old = young;
          young = new Map();
        }
        young.set(answer, slot);
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
function createOneAnswer(): AnswerCheck {
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

/** Whether each answer of a call is another value's than all others of the job. Masks and matches are often the same. */
const comparesAll = ({ operation }: Pick<BatchCall, 'operation'>, { randomTokens }: AnswerRules): boolean =>
  operation !== 'BatchDetokenize' &&
  operationInfo[operation].gives === 'token' &&
  !(operation === 'BatchTranslate' && randomTokens);

interface AnswerRules {
  /** As the profile has it. */
  readonly randomTokens: boolean;
}

export interface AnswerChecks {
  /** Looks at what was answered, and fails what can't be right. */
  add(call: BatchCall, slots: readonly Slot[]): ReturnType<AnswerCheck['add']>;
  /** Whether anything is compared with what earlier runs stored. */
  readonly needsStored: boolean;
  /** Takes in what earlier runs stored. */
  recall(call: BatchCall, stored: StoredAnswer): void;
}

/** What looks at the answers of a run, and at those that the job has already. `sourceBytes`: of the whole source. */
export function createAnswerChecks(
  calls: readonly BatchCall[],
  { sourceBytes, ...rules }: AnswerRules & { readonly sourceBytes: number },
): AnswerChecks {
  const keys = [...new Set(calls.map((call) => JSON.stringify(call)))];
  let table: AnswerTable | null = null;
  const otherRowIn = (group: number) => (stored: StoredAnswer) =>
    (table ??= new AnswerTable(sourceBytes)).add(group, stored);
  const checks = keys.map((key, group) => {
    const call = JSON.parse(key) as BatchCall;
    if (call.operation === 'BatchDetokenize') return createOneAnswer();
    if (operationInfo[call.operation].gives !== 'token') return null;
    return comparesAll(call, rules) ? createSameAnswers(otherRowIn(group)) : createOneAnswer();
  });
  const groups = new Map<BatchCall, number>();
  const groupOf = (call: BatchCall): number => {
    const group = groups.get(call) ?? keys.indexOf(JSON.stringify(call));
    groups.set(call, group);
    return group;
  };
  return {
    needsStored: calls.some((call) => comparesAll(call, rules)),
    add: (call, slots) => checks[groupOf(call)]?.add(slots) ?? null,
    recall(call, stored) {
      if (comparesAll(call, rules)) otherRowIn(groupOf(call))(stored);
    },
  };
}

const isOther = ({ value: one }: Slot, { value: other }: Slot): boolean =>
  one !== other && !isEcho(one.normalize('NFKC'), other.normalize('NFKC'));

function failSame(slot: Slot): void {
  slot.state = rowStates.failed;
  slot.text = cleartext('service.same-answer');
}
