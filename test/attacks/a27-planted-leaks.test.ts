import { beforeEach, describe, expect, it } from 'vitest';
import { createEventSender, createRouter, type RouterOptions } from '../../electron/ipc/router.ts';
import { calls, type CallName, type Handlers } from '../../electron/contract/calls.ts';
import { done, failed } from '../../electron/contract/errors.ts';
import { createLeakCheck } from '../../electron/privacy/leak-check.ts';
import { cleartext, noteCleartext, openToken, watchCleartext } from '../../electron/util/cleartext.ts';
import { canariesIn, fuzzCalls } from '../support/fuzz-calls.ts';

const card = '4111118124045251';
const sender = { origin: 'app://tokendesk', isMainFrame: true };
const lookup = {
  id: 'l1',
  at: '2026-01-02T03:04:05.678Z',
  connectionId: 'c1',
  policy: 'p',
  definition: 'd',
  token: 't',
  masked: '411111••••••5251',
  kind: 'masked' as const,
  caseReference: '',
  revealedAt: null,
  copiedAt: null,
  requestId: 'r',
  requestIds: ['r'],
};
const rowsOf = (...texts: string[]) => {
  const cells = texts.map((text) => ({ text, state: 'ok' as const }));
  return done({ total: 1, from: 0, rows: [{ row: 1, state: 'ok' as const, code: null, cells }] });
};
const rowsQuery = { jobId: 'j1', filter: 'all', from: 0, count: 10 };
const maskQuery = { policy: 'p', definition: 'd', token: 't', caseReference: '' };
const packed = Buffer.from(card).toString('utf16le');

let check: ReturnType<typeof createLeakCheck>;
beforeEach(() => {
  check = createLeakCheck({ slots: 1_024 });
  const stop = watchCleartext(check);
  return stop;
});

/** As `compose.ts` has it. */
const allowed: RouterOptions['allowed'] = (name, message) =>
  check.finds(name, message) ? check.withoutCells(name, message) : message;

function ask(handlers: Partial<Handlers>, name: CallName, input: unknown) {
  const rest = Object.keys(calls).map((call) => [call, () => Promise.resolve(failed('call.failed'))]);
  const router = createRouter({
    handlers: { ...Object.fromEntries(rest), ...handlers } as Handlers,
    origin: sender.origin,
    locked: () => false,
    allowed,
    log: { bug: () => undefined },
  });
  return router(sender, name, input);
}

/** Each with a handler that gives the value away as a fault of ours would. */
const planted: [string, CallName, unknown, Partial<Handlers>][] = [
  [
    'a mask that masks nothing',
    'lookup.mask',
    maskQuery,
    { 'lookup.mask': () => Promise.resolve(done({ ...lookup, masked: card })) },
  ],
  [
    'an error’s detail',
    'lookup.mask',
    maskQuery,
    { 'lookup.mask': () => Promise.resolve(failed('file.gone', { subject: `row 7: ${card}` })) },
  ],
  [
    'what a search answers',
    'batch.find',
    { ...rowsQuery, text: 'x', after: -1, backwards: false, from: undefined, count: undefined },
    { 'batch.find': () => Promise.resolve(failed('call.failed', { column: card })) },
  ],
];

describe('a leak put in on purpose', () => {
  it.each(planted)('%s is held back once the value was seen', async (_, name, input, handlers) => {
    const sent = JSON.parse(JSON.stringify(input)) as unknown;
    expect(await ask(handlers, name, sent)).not.toEqual(failed('call.leak', { operation: name }));
    noteCleartext(cleartext(card));
    expect(await ask(handlers, name, sent)).toEqual(failed('call.leak', { operation: name }));
  });

  it.each([card, packed, `on file: ${card}`])(
    'a cell that is not masked is hidden, and no other: %j',
    async (text) => {
      const handlers = { 'batch.rows': () => Promise.resolve(rowsOf(text, 'Ann')) };
      expect(await ask(handlers, 'batch.rows', rowsQuery)).toEqual(rowsOf(text, 'Ann'));
      noteCleartext(cleartext(card));
      expect(await ask(handlers, 'batch.rows', rowsQuery)).toEqual(rowsOf('•'.repeat(text.length), 'Ann'));
    },
  );

  it('a page with a value outside of its cells is held back whole', () => {
    noteCleartext(cleartext(card));
    const page = { columns: [{ name: card }], rows: [[card, 'Ann']], above: [], last: [[card]] };
    expect(check.withoutCells('batch.preview', page)).toBeNull();
    expect(check.withoutCells('batch.preview', { ...page, columns: [] })).toEqual({
      columns: [],
      rows: [['•'.repeat(16), 'Ann']],
      above: [],
      last: [['•'.repeat(16)]],
    });
  });

  it('an event is not sent', () => {
    const sent: unknown[] = [];
    const send = createEventSender((_event, payload) => sent.push(payload), {
      locked: () => false,
      allowed,
      log: { bug: () => undefined },
    });
    const opening = { name: `${card}.xlsx`, share: 0.5 };
    send('batch.opening', opening);
    noteCleartext(cleartext(card));
    send('batch.opening', opening);
    expect(sent).toEqual([opening]);
  });

  it('and what is a token is sent', async () => {
    noteCleartext(cleartext(card));
    openToken(cleartext(card));
    const handlers = { 'batch.rows': () => Promise.resolve(rowsOf(card)) };
    expect(await ask(handlers, 'batch.rows', rowsQuery)).toEqual(rowsOf(card));
  });
});

describe('calls of every name against the whole app', () => {
  it('finds canaries, whatever they are written as', () => {
    for (const text of [card, packed, '4111 1181 2404 5251', `x${card}y`])
      expect(canariesIn({ a: [text] })).toEqual([card]);
    expect(canariesIn({ a: '411111••••••5251' })).toEqual([]);
  });

  // `npm run fuzz` makes many more.
  it('no canary leaves, and nothing is held back', { timeout: 300_000 }, async () => {
    const { leaks, heldBack, bugs, answered } = await fuzzCalls({ count: 300, seed: 27 });
    expect({ leaks, heldBack, bugs }).toEqual({ leaks: [], heldBack: [], bugs: [] });
    expect(answered).toBeGreaterThan(20);
  });
});
