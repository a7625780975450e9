import { cleartext, type Cleartext } from '../../util/cleartext.ts';
import type { Failure } from '../../contract/errors.ts';
import { isBatchOperation } from '../../contract/operations.ts';
import type { Announced, BatchAnswer, BatchCall, Element } from '../../service/service-client.ts';
import { rowStates, type StateLetter } from '../storing/results.ts';

/** One value to be sent, shared by all cells that hold it, and the element it is sent as. */
export interface Slot extends Element {
  /** The first that has the value, as far as it is remembered. */
  readonly row: number;
  state: StateLetter | 'pending';
  /** The result, or the failure code. */
  text: Cleartext;
  /** Why it failed, in the service's own words. */
  reason?: string;
  request: BatchRequest | null;
}

/** Up to one request's worth of slots. */
export interface BatchRequest {
  readonly call: BatchCall;
  /** Requests begun earlier have a smaller one: rows that come first wait for them. */
  readonly order: number;
  readonly slots: Slot[];
  requestId: string;
  /** Its line in the audit log, begun before its turn came. */
  announced: Announced | null;
  /** Resolves when each slot has its state: with null, or with the failure that stops the run. */
  readonly settled: Promise<Failure | null>;
  isSettled: boolean;
  readonly settle: (stop: Failure | null) => void;
}

export interface CoalescingLimits {
  /** Values remembered in each of two generations, to begin with and at most. */
  readonly firstSize: number;
  readonly maxSize: number;
  /** Characters of source text those values may keep alive, in each generation. */
  readonly maxCharacters: number;
}

const defaultLimits: CoalescingLimits = {
  firstSize: 4_000,
  maxSize: 128_000,
  maxCharacters: 16 * 1024 * 1024,
};

/** After so many generations without a repeated value only a sample is remembered: one group of so many. */
const maxFruitlessGenerations = 4;
const sampleGroups = 32;
/** A power of two. */
const groups = 4_096;

/**
 * Sends equal values once. It takes the cells of all columns with the same operation, policy and definition, and puts
 * their values in requests. A value is found again as long as it is remembered: in two generations, the older one
 * dropped when the younger is full, so memory is bounded. A generation grows while values repeat. In a column without
 * repeated values only a sample is remembered, each group of values in turn, until one repeats: remembering all of
 * them would take a quarter of the whole run.
 */
export class ValueCoalescer {
  readonly #call: BatchCall;
  readonly #limits: CoalescingLimits;
  readonly #send: (request: BatchRequest) => void;
  #young = new Map<string, Slot>();
  #old = new Map<string, Slot>();
  #characters = 0;
  #size: number;
  #repeats = 0;
  #open: BatchRequest | null = null;
  #requested = 0;
  #requestedBefore = 0;
  #fruitless = 0;
  /** Answered before this run: found as long as it lasts. */
  readonly #pinned = new Map<string, Slot>();
  /** Groups that have one of them: most values need not be looked up. */
  readonly #pinnedGroups = new Uint8Array(groups);

  /** GetMasked takes one value (spec §4). */
  readonly #isBatch: boolean;

  constructor(call: BatchCall, send: (request: BatchRequest) => void, limits = defaultLimits) {
    this.#call = call;
    this.#isBatch = isBatchOperation(call.operation);
    this.#send = send;
    this.#limits = limits;
    this.#size = limits.firstSize;
  }

  /** How many values were put in requests so far. */
  get requested(): number {
    return this.#requested;
  }

  /** The request that is being filled. */
  get open(): Pick<BatchRequest, 'order' | 'slots'> | null {
    return this.#open;
  }

  /** From now on the value has this slot. */
  pin(value: string, slot: Slot): void {
    this.#pinned.set(value, slot);
    this.#pinnedGroups[groupOf(value)] = 1;
  }

  /** The slot of a value: a remembered one, or a new one in the request that is being filled. */
  slotFor(value: string, batchSize: number, row: number): Slot {
    const group = groupOf(value);
    if (this.#pinnedGroups[group] === 1) {
      const pinned = this.#pinned.get(value);
      if (pinned !== undefined) return pinned;
    }
    const isRemembered =
      this.#fruitless < maxFruitlessGenerations || (group ^ this.#fruitless) % sampleGroups === 0;
    if (isRemembered) {
      const known = this.#find(value);
      if (known !== undefined) {
        this.#repeats += 1;
        return known;
      }
    }
    const request = (this.#open ??= createRequest(this.#call));
    const { slots } = request;
    const slot: Slot = { ref: refOf(slots.length), value, row, state: 'pending', text: noText, request };
    if (isRemembered) this.#young.set(value, slot);
    this.#requested += 1;
    if (slots.push(slot) >= (this.#isBatch ? batchSize : 1)) this.flush();
    return slot;
  }

  #find(value: string): Slot | undefined {
    const young = this.#young.get(value);
    if (young !== undefined) return young;
    const old = this.#old.get(value);
    if (old !== undefined) this.#young.set(value, old);
    return old;
  }

  /** Sends the request that is being filled, full or not. */
  flush(): void {
    if (this.#open === null) return;
    const request = this.#open;
    this.#open = null;
    this.#send(request);
  }

  /** To be called after each chunk with new values: how much source text they keep alive. */
  addSourceText(characters: number): void {
    this.#characters += characters;
    const isFull =
      this.#young.size >= this.#size ||
      this.#characters >= this.#limits.maxCharacters ||
      this.#requested - this.#requestedBefore >= this.#size * 2;
    if (isFull) this.#beginGeneration();
  }

  #beginGeneration(): void {
    if (this.#repeats * 64 > this.#young.size) {
      if (this.#fruitless < maxFruitlessGenerations) {
        this.#size = Math.min(this.#size * 2, this.#limits.maxSize);
      }
      this.#fruitless = 0;
    } else {
      this.#size = this.#limits.firstSize;
      this.#fruitless += 1;
    }
    this.#old = this.#young;
    this.#young = new Map();
    this.#repeats = 0;
    this.#characters = 0;
    this.#requestedBefore = this.#requested;
  }
}

const noText = cleartext('');

/** Equal values are in the same group. */
function groupOf(value: string): number {
  const last = value.length - 1;
  let hash = value.charCodeAt(last) * 31 + value.charCodeAt(last >> 1);
  hash = hash * 31 + value.charCodeAt(Math.max(last - 1, 0));
  hash = hash * 31 + value.charCodeAt(Math.max(last - 2, 0));
  return hash & (groups - 1);
}

/** Over all jobs. */
let begun = 0;

function createRequest(call: BatchCall): BatchRequest {
  begun += 1;
  const { promise, resolve } = Promise.withResolvers<Failure | null>();
  const request: BatchRequest = {
    call,
    order: begun,
    slots: [],
    requestId: '',
    announced: null,
    settled: promise,
    isSettled: false,
    settle(stop) {
      request.isSettled = true;
      resolve(stop);
    },
  };
  return request;
}

const refs: string[] = [];

/** RefIds need only be unique within their call (spec §2): a slot's is its position in its request. */
function refOf(position: number): string {
  while (refs.length <= position) refs.push(String(refs.length));
  return refs[position] ?? '';
}

/** Gives every slot its state from an answer, by RefId. A slot without an answer did not match, or has failed. */
export function applyAnswer(call: BatchCall, slots: readonly Slot[], answer: BatchAnswer): void {
  // The slots may be a part of their request; their RefIds are those of the whole.
  const first = Number(slots[0]?.ref);
  for (const element of answer.elements) {
    const slot = slots[Number(element.ref) - first];
    if (slot?.state !== 'pending') continue;
    if (element.ok) {
      slot.state = element.value === null ? rowStates.matched : rowStates.ok;
      slot.text = element.value ?? cleartext('');
    } else {
      slot.state = rowStates.failed;
      slot.text = cleartext(element.code);
      if (element.reason !== undefined) slot.reason = element.reason;
    }
  }
  const isMatch = 'pattern' in call;
  for (const slot of slots) {
    if (slot.state !== 'pending') continue;
    slot.state = isMatch ? rowStates.unmatched : rowStates.failed;
    slot.text = cleartext(isMatch ? '' : 'service.mismatched-answer');
  }
}

export function failSlots(slots: readonly Slot[], { code, codes = [], fields = [] }: Failure): void {
  const reason = [...fields.map(({ message }) => message), ...codes].join('; ');
  for (const slot of slots) {
    slot.state = rowStates.failed;
    slot.text = cleartext(code);
    if (reason !== '') slot.reason = reason;
  }
}
