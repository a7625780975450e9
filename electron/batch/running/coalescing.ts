import type { Failure, FailureCode } from '../../contract/errors.ts';
import type { BatchAnswer, BatchCall, Element } from '../../service/client.ts';
import type { State } from '../storing/results.ts';

/** One value on its way, shared by all rows that hold it, and the element it is sent as. */
export interface Slot extends Element {
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

/** Generations that find nothing before a lane only takes samples, and the parts the values are then divided in. */
const patience = 4;
const parts = 16;

/**
 * All cells that are sent under the same operation, policy and definition. Equal values become one slot as long as
 * the lane remembers them: two generations, the older dropped when the younger is full, so memory stays bounded. A
 * lane remembers more while that finds something. In a column in which every value is another one it looks at one
 * part of the values only, each part in its turn, until one of them repeats: to remember all of them for nothing
 * costs a quarter of the whole run.
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
  #asked = 0;
  #turnedAt = 0;
  #fruitless = 0;

  constructor(call: BatchCall, dispatch: (request: Request) => void, limits = laneLimits) {
    this.call = call;
    this.#dispatch = dispatch;
    this.#limits = limits;
    this.#size = limits.first;
  }

  /** Values put in requests so far. */
  get asked(): number {
    return this.#asked;
  }

  /** The slot for a value: one that is known, or a new one in the request being filled. */
  want(value: string, batchSize: number): Slot {
    const remembered = this.#fruitless < patience || partOf(value) === this.#fruitless % parts;
    if (remembered) {
      const known = this.#find(value);
      if (known !== undefined) {
        this.#found += 1;
        return known;
      }
    }
    this.#open ??= createRequest(this);
    const ref = refOf(this.#open.slots.length);
    const slot: Slot = { ref, value, state: 'w', text: '', request: this.#open };
    if (remembered) this.#young.set(value, slot);
    this.#asked += 1;
    this.#open.slots.push(slot);
    if (this.#open.slots.length >= batchSize) this.flush();
    return slot;
  }

  #find(value: string): Slot | undefined {
    const young = this.#young.get(value);
    if (young !== undefined) return young;
    const old = this.#old.get(value);
    if (old !== undefined) this.#young.set(value, old);
    return old;
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
    const full =
      this.#young.size >= this.#size ||
      this.#characters >= this.#limits.characters ||
      this.#asked - this.#turnedAt >= this.#size * 2;
    if (full) this.#turn();
  }

  #turn(): void {
    if (this.#found * 64 > this.#young.size) {
      if (this.#fruitless < patience) this.#size = Math.min(this.#size * 2, this.#limits.most);
      this.#fruitless = 0;
    } else {
      this.#size = this.#limits.first;
      this.#fruitless += 1;
    }
    this.#old = this.#young;
    this.#young = new Map();
    this.#found = 0;
    this.#characters = 0;
    this.#turnedAt = this.#asked;
  }
}

/** Equal values fall into the same part. */
function partOf(value: string): number {
  const last = value.length - 1;
  return (value.charCodeAt(last) + 7 * value.charCodeAt(last >> 1)) % parts;
}

function createRequest(lane: Lane): Request {
  const { promise, resolve } = Promise.withResolvers<Failure | null>();
  return { lane, slots: [], requestId: '', settled: promise, settle: resolve };
}

const refs: string[] = [];

/** RefIds need only be unique within their call (spec §2): a slot's is its place in its request. */
function refOf(place: number): string {
  while (refs.length <= place) refs.push(String(refs.length));
  return refs[place] ?? '';
}

/** Gives every slot its state from an answer, by RefId. What was not answered did not match, or is missing. */
export function applyAnswer(call: BatchCall, slots: readonly Slot[], answer: BatchAnswer): void {
  // Part of a request keeps the places of the whole.
  const first = Number(slots[0]?.ref);
  for (const element of answer.elements) {
    const slot = slots[Number(element.ref) - first];
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
