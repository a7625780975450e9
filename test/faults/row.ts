import assert from 'node:assert/strict';
import type { BatchAnswer, Element } from '../../electron/service/service-client.ts';
import { failureSchema, type Outcome } from '../../electron/contract/errors.ts';
import type { ClientSide } from './client-side.ts';
import { modelApiKey, modelPassword, tokenOf } from './model-service.ts';

/** One line of the matrix: a fault, what is to come of it, and the proof. */
export interface Row {
  readonly fault: string;
  readonly expected: string;
  /** Rejects when the expected does not come. */
  readonly run: () => Promise<void>;
}

export const POLICY = 'policy-p';
export const DEFINITION = 'card';
/** What no failure and no record may hold. */
export const VALUE = '4929canary7731';

export const call = { operation: 'BatchDetokenize', policy: POLICY, definition: DEFINITION } as const;

export const tokens = (count: number): Element[] =>
  Array.from({ length: count }, (_, n) => ({ ref: `ref-${n}`, value: tokenOf(`${VALUE}-${n}`) }));

/** Every element once, in the order given, each with its own cleartext. */
export function assertAll(outcome: Outcome<BatchAnswer>, elements: readonly Element[]): void {
  assert.ok(outcome.ok, JSON.stringify(outcome));
  assert.deepEqual(
    outcome.value.elements,
    elements.map(({ ref, value }) => ({ ref, ok: true, value: value.replace('tok_', '') })),
  );
}

export function assertFailed(
  outcome: Outcome<unknown>,
  code: string,
): asserts outcome is Outcome<never> & { ok: false } {
  assert.ok(!outcome.ok, `expected ${code}`);
  assert.equal(outcome.failure.code, code);
  failureSchema.parse(outcome.failure);
  assertClean(outcome);
}

/** Neither secret nor value nor anything of a body: only codes, names and numbers. */
export function assertClean(recorded: unknown): void {
  const text = JSON.stringify(recorded);
  for (const secret of [modelApiKey, modelPassword, VALUE, 'canary-session', 'captive']) {
    assert.ok(!text.includes(secret), `a failure or record holds ${secret.slice(0, 6)}…`);
  }
}

export function assertAudited(app: ClientSide): void {
  assertClean(app.audited);
  for (const { intent, outcome } of app.audited) {
    assert.ok(outcome !== null, `no end was recorded for ${intent.operation}`);
  }
}

/** Answers enough for the client to keep this many requests in flight. */
export async function warmUp({ client }: ClientSide, flight: number): Promise<void> {
  await Promise.all(Array.from({ length: flight }, () => client.batch(call, tokens(1), {})));
}
