import { describe, expect, onTestFinished, test } from 'vitest';
import { done, failed, type Outcome } from '../../electron/contract/errors.ts';
import { mask } from '../../electron/masking/masking.ts';
import { createGuesses, freeOfMask } from '../../electron/privacy/guesses.ts';
import { detokenize, planOf, valueOf } from '../support/batch-app.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { obscured, openWholeApp, type WholeApp } from '../support/whole-app.ts';

/*
 * A mask hides six digits of a card, of which the check digit gives one: 100,000 numbers. Tokens are the same for the same
 * number, so whoever may tokenize looks for the token among those of all candidates. No Detokenize is asked for.
 */

const grounds = { reason: 'Fraud review', caseReference: 'D-1' };
const secret = '4312747240039017';

const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.failure.code);

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]) * (at % 2 === 1 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/** Numbers with the secret's mask, the secret among the last of them. */
function candidates(count: number): string[] {
  const found: string[] = [];
  for (let middle = 0; found.length < count - 1; middle++) {
    const number = `431274${String(middle).padStart(6, '0')}9017`;
    if (passesLuhn(number) && number !== secret) found.push(number);
  }
  return [...found, secret];
}

async function workstation(given: Parameters<typeof openWholeApp>[0] = {}): Promise<WholeApp> {
  const app = await openWholeApp(given);
  onTestFinished(() => app.close());
  const { id } = valueOf(await app.ask('connections.startBuiltIn', {}));
  valueOf(await app.ask('connections.choose', { id, policy: 'intake' }));
  return app;
}

async function draftOf(app: WholeApp, values: readonly string[]) {
  const { sourceId } = valueOf(await app.ask('batch.paste', { text: `card\n${values.join('\n')}\n` }));
  return {
    sourceId,
    plan: planOf([detokenize(0, { operation: 'tokenize', policy: 'intake', definition: 'card-number' })]),
  };
}

async function foreseen(app: WholeApp, draft: Awaited<ReturnType<typeof draftOf>>): Promise<number> {
  valueOf(await app.ask('batch.preflight', draft));
  const counted = () =>
    app.events.findLast(
      ({ name, payload }) =>
        name === 'batch.preflight' && (payload as { sourceId: string }).sourceId === draft.sourceId,
    )?.payload as { done: boolean; guesses: number } | undefined;
  await expect.poll(() => counted()?.done, { timeout: 20_000 }).toBe(true);
  return counted()?.guesses ?? 0;
}

async function ended(app: WholeApp, jobId: string) {
  const find = async () =>
    valueOf(await app.ask('batch.jobs', {})).find((job) => 'jobId' in job && job.jobId === jobId);
  const states = ['finished', 'paused', 'failed'];
  await expect.poll(async () => states.includes((await find())?.state ?? ''), { timeout: 30_000 }).toBe(true);
  const job = await find();
  if (job === undefined) throw new Error('no job');
  return job;
}

describe('guessing a card by its mask', () => {
  test('is said before anything is sent, takes a reason, is in the log, and counts', async () => {
    const app = await workstation();
    const draft = await draftOf(app, candidates(4_000));
    const guesses = await foreseen(app, draft);
    expect(guesses).toBeGreaterThan(1_500);
    expect(guesses).toBeLessThan(2_500);
    expect(codeOf(await app.ask('batch.start', { ...draft, grounds: null }))).toBe('reveal.reason-required');
    expect(valueOf(await app.ask('batch.jobs', {}))).toEqual([]);
    const { jobId } = valueOf(await app.ask('batch.start', { ...draft, grounds }));
    expect(await ended(app, jobId)).toMatchObject({ state: 'finished' });
    expect(valueOf(await app.ask('app.disclosures', {}))).toMatchObject({ guesses });
    const listed = valueOf(
      await app.ask('activity.list', { before: null, limit: 500, caseReference: null, kind: 'cleartext' }),
    ).entries;
    expect(listed.find(({ phase }) => phase === 'ok')).toMatchObject({
      action: 'Guess',
      ...grounds,
      cleartext: true,
      counted: { guesses },
    });
  });

  test('without a preflight stops before too many are sent, and goes on with a reason alone', async () => {
    const app = await workstation();
    const draft = await draftOf(app, candidates(4_000));
    const { jobId } = valueOf(await app.ask('batch.start', { ...draft, grounds: null }));
    const stopped = await ended(app, jobId);
    expect(stopped).toMatchObject({
      state: 'paused',
      waiting: { failure: { code: 'guess.reason-required' } },
    });
    expect(stopped.tally.ok).toBeLessThanOrEqual(freeOfMask * 1.1);
    // The one that is looked for is the last.
    const page = await app.ask('batch.rows', { jobId, filter: 'all', from: 0, count: 1 });
    expect(valueOf(page).total).toBeLessThan(4_000);
    expect(codeOf(await app.ask('batch.resume', { jobId, grounds: null }))).toBe('reveal.reason-required');
    expect(codeOf(await app.ask('batch.resume', { jobId, grounds }))).toBe('ok');
    expect(await ended(app, jobId)).toMatchObject({ state: 'finished' });
  });

  test('by rows that are corrected after a reason for a few needs another', async () => {
    const app = await workstation();
    const numbers = candidates(4_200);
    const draft = await draftOf(app, [...numbers.slice(0, 2_200), ...numbers.slice(2_200).map(() => 'x')]);
    const counted = await foreseen(app, draft);
    expect(counted).toBeGreaterThan(0);
    const { jobId } = valueOf(await app.ask('batch.start', { ...draft, grounds }));
    expect(await ended(app, jobId)).toMatchObject({ state: 'finished', tally: { failed: 2_000 } });
    const name = 'card';
    const text = [
      `source_row,column,reason,code,${name}`,
      ...numbers.slice(2_200).map((number, index) => `${2_201 + index},${name},r,c,${number}`),
      '',
    ].join('\n');
    const { sourceId } = valueOf(await app.ask('batch.paste', { text }));
    valueOf(await app.ask('batch.compare', { jobId, sourceId }));
    const taken = { doubts: [], except: [] };
    await app.ask('batch.mend', { jobId, taken, grounds: null });
    const job = await ended(app, jobId);
    expect(job).toMatchObject({ waiting: { failure: { code: 'guess.reason-required' } } });
    expect(job.tally.ok).toBeLessThan(2_400);
  });

  test('in files of a few, one at a time, or after a restart ends at the same number', async () => {
    const home = tempFolder();
    const numbers = candidates(3_600);
    let app = await workstation({ home });
    const { keyring } = app;
    const codes: string[] = [];
    for (let file = 0; file < 3; file++) {
      const draft = await draftOf(app, numbers.slice(file * 900, (file + 1) * 900));
      const started = await app.ask('batch.start', { ...draft, grounds: null });
      codes.push(started.ok ? (await ended(app, started.value.jobId)).state : codeOf(started));
      if (file === 0) {
        await app.close();
        app = await workstation({ home, keyring });
      }
    }
    expect(codes.slice(0, 2)).toEqual(['finished', 'finished']);
    expect(codes[2]).toBe('paused');
    const one = await app.ask('lookup.tokenize', {
      policy: 'intake',
      definition: 'card-number',
      cleartext: obscured(secret),
      caseReference: '',
    });
    expect(codeOf(one)).toBe('guess.reason-required');
  });

  test('ends at the administrator’s number, whatever the reason', async () => {
    const app = await workstation({ managed: { maxGuessesPerDay: 500 } });
    const draft = await draftOf(app, candidates(3_500));
    await foreseen(app, draft);
    expect(await app.ask('batch.start', { ...draft, grounds })).toMatchObject({
      ok: false,
      failure: { code: 'disclosure.limit', subject: 'guesses' },
    });
    expect(codeOf(await app.ask('batch.try', { ...draft, grounds: null }))).toBe('reveal.reason-required');
  });

  test('is not what an honest file does: cards of one BIN, SSNs, order numbers, one card over and over', async () => {
    const guesses = createGuesses({
      logged: () => Promise.resolve(done(new Map())),
      now: () => new Date(2026, 10, 22, 12),
    });
    const files: Readonly<Record<string, (n: number) => string>> = {
      // Spread over the last four as real ones are; a million of them are 100 of a mask.
      cards: (n) =>
        `431274${String((n * 7_919) % 1_000_000).padStart(6, '0')}${String(n % 10_000).padStart(4, '0')}`,
      ssns: (n) =>
        `${String(100_000 + ((n * 31) % 899_999)).slice(0, 5)}${String(n % 10_000).padStart(4, '0')}`,
      orders: (n) => String(10_000_000_000_000_00 + n),
      'one card': () => secret,
    };
    for (const [definition, value] of Object.entries(files)) {
      const file = await guesses.foresee({
        connection: { baseUrl: 'https://c.example', builtIn: false },
        definition,
      });
      for (let n = 0; n < 300_000; n++) file.add(value(n));
      expect(file.guesses, definition).toBe(0);
    }
  });
});

describe('the count of a mask', () => {
  const at = (baseUrl: string, builtIn = false) => ({ connection: { baseUrl, builtIn }, definition: 'd' });
  const to = at('https://c.example');
  const open = (over: Partial<Parameters<typeof createGuesses>[0]> = {}) =>
    createGuesses({
      logged: () => Promise.resolve(done(new Map())),
      now: () => new Date(2026, 10, 22, 12),
      ...over,
    });

  test('is of different values, written with separators or without', async () => {
    const guesses = open();
    const numbers = candidates(1_000);
    expect(mask('card', numbers[0] ?? '')).toBe(mask('card', secret));
    for (let round = 0; round < 5; round++) {
      const written = numbers.map((number) =>
        round % 2 === 0 ? number : number.replaceAll(/.{4}/g, '$& ').trim(),
      );
      expect(codeOf(await guesses.admit(to, written))).toBe('ok');
    }
    expect(guesses.alike('d')).toBeGreaterThan(900);
    expect(guesses.alike('d')).toBeLessThan(1_100);
  });

  test('is one of SSNs too, and none of numbers of 10 to 12 digits', async () => {
    for (const [digits, isCounted] of [
      [9, true],
      [10, false],
      [12, false],
    ] as const) {
      const guesses = open();
      // One mask: the last four digits are the same.
      const numbers = Array.from({ length: 500 }, (_, n) => `${String(10 ** (digits - 5) + n)}9017`);
      await guesses.admit(to, numbers);
      expect([digits, guesses.alike('d') > 400]).toEqual([digits, isCounted]);
    }
  });

  test('is none as long as it is no more than what is free', async () => {
    const logged = () => Promise.resolve(done(new Map([['d', freeOfMask - 1]])));
    const file = await open({ logged }).foresee(to);
    const [one = '', other = ''] = candidates(3);
    file.add(one);
    expect(file.guesses).toBe(0);
    file.add(other);
    expect(file.guesses).toBe(1);
  });

  test('is each definition’s and each service’s own', async () => {
    const guesses = open();
    const numbers = candidates(1_500);
    for (const host of ['c1', 'c2']) {
      for (const definition of ['d1', 'd2'])
        expect(codeOf(await guesses.admit({ ...at(`https://${host}.example`), definition }, numbers))).toBe(
          'ok',
        );
    }
  });

  test('is one for all connections to a service, however its address is written', async () => {
    for (const [one, other] of [
      [at('https://c.example'), at('https://C.example:443/path/')],
      [at('https://127.0.0.1:4001', true), at('https://127.0.0.1:4002', true)],
    ] as const) {
      const guesses = open();
      const numbers = candidates(4_000);
      expect(codeOf(await guesses.admit(one, numbers.slice(0, 1_500)))).toBe('ok');
      expect(codeOf(await guesses.admit(other, numbers.slice(1_500)))).toBe('guess.reason-required');
    }
  });

  test.each([
    ['a blank that does not break', (number: string) => `${number}\u00a0`],
    ['blanks of no width', (number: string) => Array.from(number).join('\u200b')],
    ['a Korean blank', (number: string) => `\u3164${number}`],
    ['commas', (number: string) => number.replaceAll(/.{4}/g, '$&,')],
    ['a sign', (number: string) => `+${number}`],
    [
      'full width',
      (number: string) =>
        number.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    ],
  ])('is the same with %s', async (_, write) => {
    expect(codeOf(await open().admit(to, candidates(4_000).map(write)))).toBe('guess.reason-required');
  });

  test('is reached at the same share of an American Express card’s numbers', async () => {
    const numbers = Array.from({ length: 10_000 }, (_, n) => `378282${String(n * 10).padStart(5, '0')}0005`);
    expect(codeOf(await open().admit(to, numbers.slice(0, 150)))).toBe('ok');
    expect(codeOf(await open().admit(to, numbers.slice(0, 260)))).toBe('guess.reason-required');
  });

  test.each([13, 14])(
    'is of numbers of %s digits as well, of which the last four are shown',
    async (digits) => {
      const numbers = Array.from({ length: 4_000 }, (_, n) => `3${String(n).padStart(digits - 5, '0')}9017`);
      expect(codeOf(await open().admit(to, numbers))).toBe('guess.reason-required');
    },
  );

  test('begins with what the log has of the day, and anew at midnight', async () => {
    let now = new Date(2026, 10, 22, 23, 59);
    const since: Date[] = [];
    const guesses = open({
      now: () => new Date(now),
      logged: (begin) => {
        since.push(begin);
        return Promise.resolve(done(new Map(since.length === 1 ? [['d', 1_900]] : [])));
      },
    });
    expect(codeOf(await guesses.admit(to, candidates(300)))).toBe('guess.reason-required');
    now = new Date(2026, 10, 23, 0, 1);
    expect(codeOf(await guesses.admit(to, candidates(300)))).toBe('ok');
    expect(since).toEqual([new Date(2026, 10, 22), new Date(2026, 10, 23)]);
  });

  test('that can not be read admits nothing; a job with a reason is admitted', async () => {
    const unread = open({ logged: () => Promise.resolve(failed('audit.unwritable')) });
    expect(codeOf(await unread.admit(to, [secret]))).toBe('audit.unwritable');
    const guesses = open();
    const numbers = candidates(3_000);
    expect(codeOf(await guesses.admit(to, numbers, 'job-1'))).toBe('guess.reason-required');
    // What was refused is not free because it was asked for before.
    expect(codeOf(await guesses.admit(to, numbers.slice(-10), 'job-1'))).toBe('guess.reason-required');
    guesses.allow('job-1', 3_000);
    expect(codeOf(await guesses.admit(to, numbers, 'job-1'))).toBe('ok');
    // A reason is for as many as it was given for.
    expect(codeOf(await guesses.admit(to, numbers, 'job-1'))).toBe('guess.reason-required');
    expect(codeOf(await guesses.admit(to, numbers, 'job-2'))).toBe('guess.reason-required');
  });
});
