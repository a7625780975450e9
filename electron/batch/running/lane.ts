import type { Failure, FailureCode } from '../../contract/errors.ts';
import type { BatchAnswer, BatchCall, Element } from '../../service/client.ts';
import type { State } from './results.ts';

/** One value on its way, shared by all rows that hold it. */
export interface Slot {
  readonly value: string;
  state: State | 'w';
  /** The result, or the failure code. */
  text: string;
  request: Request | null;
}

/** Up to one request's worth of slots; `settled` when each of them has its state. */
export interface Request {
  readonly lane: Lane;
  readonly slots: Slot[];
  requestId: string;
  /** Resolves with the failure that stops the run, or null. */
  readonly settled: Promise<Failure | null>;
  readonly settle: (stop: Failure | null) => void;
}

export interface LaneLimits {
  /** Values remembered in each of two generations, to begin with and at most. */
  readonly first: number;
  readonly most: number;
  /** Characters of source text those values may keep alive, in each generation. */
  readonly characters: number;
}

export const laneLimits: LaneLimits = { first: 4_000, most: 128_000, characters: 16 * 1024 * 1024 };

/**
 * All cells that are sent under the same operation, policy and definition. Equal values become one slot as long as
 * the lane remembers them: two generations, the older dropped when the younger is full, so memory stays bounded. A
 * lane remembers more while that finds something, and little in a column in which every value is another one: a
 * large memory of no use costs a quarter of the whole run.
 */
export class Lane {
  readonly call: BatchCall;
  readonly #limits: LaneLimits;
  readonly #dispatch: (request: Request) => void;
  #young = new Map<string, Slot>();
  #old = new Map<string, Slot>();
  #characters = 0;
  #size: number;
  #found = 0;
  #open: Request | null = null;

  constructor(call: BatchCall, dispatch: (request: Request) => void, limits = laneLimits) {
    this.call = call;
    this.#dispatch = dispatch;
    this.#limits = limits;
    this.#size = limits.first;
  }

  /** The slot for a value: one that is known, or a new one in the request being filled. */
  want(value: string, batchSize: number): Slot {
    let slot = this.#young.get(value);
    if (slot === undefined) {
      slot = this.#old.get(value);
      if (slot !== undefined) this.#young.set(value, slot);
    }
    if (slot !== undefined) {
      this.#found += 1;
      return slot;
    }
    this.#open ??= createRequest(this);
    slot = { value, state: 'w', text: '', request: this.#open };
    this.#young.set(value, slot);
    this.#open.slots.push(slot);
    if (this.#open.slots.length >= batchSize) this.flush();
    return slot;
  }

  /** Sends what has gathered, full or not. */
  flush(): void {
    if (this.#open === null) return;
    const request = this.#open;
    this.#open = null;
    this.#dispatch(request);
  }

  /** Told after each chunk how much source text the values just remembered keep alive. */
  remember(characters: number): void {
    this.#characters += characters;
    if (this.#young.size < this.#size && this.#characters < this.#limits.characters) return;
    const useful = this.#found * 64 > this.#young.size;
    this.#size = useful ? Math.min(this.#size * 2, this.#limits.most) : this.#limits.first;
    this.#old = this.#young;
    this.#found = 0;
    this.#young = new Map();
    this.#characters = 0;
  }
}

function createRequest(lane: Lane): Request {
  const { promise, resolve } = Promise.withResolvers<Failure | null>();
  return { lane, slots: [], requestId: '', settled: promise, settle: resolve };
}

const refs: string[] = [];

/** RefIds need only be unique within their call (spec §2). */
export function elementsOf(slots: readonly Slot[]): Element[] {
  while (refs.length < slots.length) refs.push(String(refs.length));
  return slots.map((slot, i) => ({ ref: refs[i] ?? String(i), value: slot.value }));
}

/** Gives every slot its state from an answer, by RefId. What was not answered did not match, or is missing. */
export function applyAnswer(call: BatchCall, slots: readonly Slot[], answer: BatchAnswer): void {
  for (const element of answer.elements) {
    const slot = slots[Number(element.ref)];
    if (slot?.state !== 'w') continue;
    slot.state = element.ok ? 'o' : 'f';
    slot.text = element.ok ? element.value : element.code;
  }
  const unanswered: State = call.operation === 'PatternMatch' ? 'u' : 'f';
  for (const slot of slots) {
    if (slot.state !== 'w') continue;
    slot.state = unanswered;
    slot.text = unanswered === 'f' ? 'service.mismatched-answer' : '';
  }
}

export function failSlots(slots: readonly Slot[], code: FailureCode): void {
  for (const slot of slots) {
    slot.state = 'f';
    slot.text = code;
  }
}
