import type { Page } from 'playwright-core';
import type { CallInput, CallName, CallOutput } from '../../electron/contract/calls.ts';
import type { Outcome } from '../../electron/contract/errors.ts';

type WithBridge = typeof globalThis & {
  readonly tokendesk: Record<string, (input: unknown) => Promise<unknown>>;
};

/** Asks main as a script of the window does. */
export async function ask<N extends CallName>(
  page: Page,
  call: N,
  input: CallInput<N>,
): Promise<Outcome<CallOutput<N>>> {
  const answer = await page.evaluate(
    ({ call, input }) => (globalThis as unknown as WithBridge).tokendesk[call]?.(input),
    { call, input },
  );
  return answer as Outcome<CallOutput<N>>;
}

/** The answer where there must be one. */
export async function answerOf<N extends CallName>(
  page: Page,
  call: N,
  input: CallInput<N>,
): Promise<CallOutput<N>> {
  const outcome = await ask(page, call, input);
  if (!outcome.ok) throw new Error(`${call} failed: ${outcome.failure.code}`);
  return outcome.value;
}

/** First run: the built-in service, and a token of it that was looked up. Answers the lookup's ID. */
export async function lookUpSample(page: Page): Promise<string> {
  await answerOf(page, 'connections.startBuiltIn', {});
  const { definition, token } = await answerOf(page, 'lookup.sample', {});
  const state = await answerOf(page, 'app.state', {});
  const policy = 'active' in state ? (state.active?.policy ?? '') : '';
  const { id } = await answerOf(page, 'lookup.mask', { policy, definition, token, caseReference: 'D-1' });
  return id;
}

/** Shows it in clear, as far as main knows: the page that asked has nothing to show it with. */
export async function revealLookup(page: Page, lookupId: string): Promise<string> {
  const reason = { reason: 'Refund', caseReference: 'D-1' };
  const xorKey = '0000'.repeat(64);
  return (await answerOf(page, 'lookup.reveal', { lookupId, xorKey, ...reason })).revealId;
}
