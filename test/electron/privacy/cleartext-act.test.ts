import { describe, expect, test } from 'vitest';
import { done, failed, type Outcome } from '../../../electron/contract/errors.ts';
import type { Counted } from '../../../electron/contract/models/disclosures.ts';
import type { CleartextAct } from '../../../electron/privacy/act.ts';
import type { CleartextGateOptions } from '../../../electron/privacy/cleartext-act.ts';
import { codeOf } from '../../support/batch-app.ts';
import { counts, gateWith } from '../../support/cleartext-gate.ts';
import { auditWith } from '../../support/fake-audit.ts';
import { standsDuring } from '../../support/stands-during.ts';

/* The one gate, for every kind of act in the same way. */

const disclosed = () => done({ columns: ['card'], words: [], source: null, exact: 'these rows' });
const where = { connection: 'Acme', environment: 'production', policy: 'p', definition: 'd', disclosed };
const grounds = { reason: 'Refund', caseReference: 'D-1', confirmRows: 7 };
const acts: Readonly<Record<CleartextAct['action'], CleartextAct>> = {
  Reveal: { ...where, action: 'Reveal', subject: 'one', grounds },
  Copy: { ...where, action: 'Copy', grounds },
  Export: {
    ...where,
    action: 'Export',
    grounds,
    rows: 7,
    rowsOfLine: 9,
    values: 14,
    export: { encrypted: false },
  },
  Match: { ...where, action: 'Match', grounds, rows: 7, patterns: ['^4', '1$'], confirmsRows: true },
  Guess: { ...where, action: 'Guess', grounds, rows: 7, guesses: 5, confirmsRows: true },
  Move: {
    ...{
      ...where,
      action: 'Move',
      grounds,
      rows: 7,
      columns: 2,
      confirmsRows: true,
      intoProduction: false,
      accounts: [],
    },
    to: ['New (test), p, e'],
  },
};
const expressions = ['0123456789abcdef', '0123456789abcdef'];
const amounts: Readonly<Record<CleartextAct['action'], Counted>> = {
  Reveal: { reveals: 1 },
  Copy: { copies: 1 },
  Export: { exportedRows: 7 },
  Match: { matchAnswers: 14, expressions },
  Guess: { guesses: 5 },
  Move: { moved: 14 },
};
const kinds = Object.values(acts).map((act) => [act.action, act] as const);

type Step = readonly unknown[];

/** All that an act does, in order, and its outcome. */
async function run(
  act: CleartextAct,
  over: Partial<CleartextGateOptions> = {},
  {
    fetched = done('4111'),
    given = done('shown'),
  }: Partial<Record<'fetched' | 'given', Outcome<string>>> = {},
): Promise<{ steps: Step[]; code: string; counted: Counted | null }> {
  const steps: Step[] = [];
  let counted: Counted | null = null;
  const audit = {
    ...auditWith((intent) => {
      const { action: name, reason, caseReference, rows, note } = intent;
      steps.push(['begin', name, reason, caseReference, rows, note, intent.counted]);
      return Promise.resolve(
        done(({ ok, code, counted: left }) =>
          steps.push(['end', ok, code, ...(left === undefined ? [] : [left])]),
        ),
      );
    }),
    anchor: () => (steps.push(['anchor']), Promise.resolve(done(null))),
  };
  const disclosures: CleartextGateOptions['disclosures'] = {
    ...counts,
    take: (amounts) => ((counted = amounts), Promise.resolve(done(amounts))),
    giveBack: () => ((counted = null), Promise.resolve()),
    store: () => (steps.push(['store']), Promise.resolve(done(null))),
  };
  const gate = gateWith({ audit, disclosures, ...over });
  const outcome = await gate.open(act, {
    fetch: () => (steps.push(['fetch']), fetched),
    give: (value) => (steps.push(['give', value]), given),
  });
  return { steps, code: codeOf(outcome), counted };
}

const names = (steps: readonly Step[]): unknown[] => steps.map(([name]) => name);

describe.each(kinds)('%s', (action, act) => {
  test('is in the log, anchored and counted before anything is given, and ends in the log', async () => {
    const { steps, code, counted } = await run(act);
    expect(code).toBe('ok');
    expect(steps[0]).toEqual([
      'begin',
      action,
      'Refund',
      'D-1',
      { Reveal: 1, Copy: 1, Export: 9, Match: 7, Guess: 7, Move: 7 }[action],
      {
        Match: 'expression 0123456789abcdef, 0123456789abcdef',
        Guess: '5 values of masks that many others have',
        Move: 'to New (test), p, e',
      }[action as string],
      amounts[action],
    ]);
    expect(names(steps).slice(1, 4).sort()).toEqual(['anchor', 'fetch', 'store']);
    expect(steps.slice(4)).toEqual([
      ['give', '4111'],
      ['end', true, undefined],
    ]);
    expect(counted).toEqual(amounts[action]);
  });

  test.each([
    ['nobody said why', { grounds: null }, {}, 'reveal.reason-required'],
    ['the reason is blank', { grounds: { ...grounds, reason: '' } }, {}, 'reveal.reason-required'],
    ['the case is blank', { grounds: { ...grounds, caseReference: '' } }, {}, 'reveal.reason-required'],
    ['the reason is not of the list', {}, { managed: { reasons: ['Other'] } }, 'reveal.reason-refused'],
  ] satisfies [string, object, Partial<CleartextGateOptions>, string][])(
    'is refused where %s: no line, no count, no request',
    async (_why, more, over, refused) => {
      const { steps, code } = await run({ ...act, ...more }, over);
      expect([code, steps]).toEqual([refused, []]);
      expect((await gateWith(over).check({ ...act, ...more }))?.failure.code).toBe(refused);
    },
  );

  const isOneValue = ['Reveal', 'Copy'].includes(action);
  test(isOneValue ? 'goes before other work' : 'lets other work go on', async () => {
    const stood = await standsDuring((answer) =>
      gateWith().open(act, { fetch: () => answer.then(() => done('4111')), give: () => done('shown') }),
    );
    expect(stood).toBe(isOneValue);
  });

  test('needs no case where none is asked for', async () => {
    const { code } = await run(
      { ...act, grounds: { ...grounds, caseReference: '' } },
      {
        caseRequired: () => false,
      },
    );
    expect(code).toBe('ok');
  });

  test.each([
    ['the log can’t be begun', { audit: auditWith(() => Promise.resolve(failed('audit.unwritable'))) }],
    [
      'the log can’t be anchored',
      {
        audit: {
          ...auditWith(() => Promise.resolve(done(() => undefined))),
          anchor: () => Promise.resolve(failed('audit.unwritable')),
        },
      },
    ],
    [
      'the count can’t be written',
      {
        disclosures: {
          ...counts,
          store: () => Promise.resolve(failed('keychain.locked')),
        },
      },
    ],
    [
      'a limit is reached',
      {
        disclosures: {
          ...counts,
          take: () => Promise.resolve(failed('disclosure.limit')),
        },
      },
    ],
  ] as const)('gives nothing where %s, and what was taken is given back', async (_why, over) => {
    let taken = 0;
    const disclosures = {
      ...counts,
      ...('disclosures' in over ? over.disclosures : {}),
      giveBack: () => ((taken -= 1), Promise.resolve()),
    };
    const { take } = disclosures;
    disclosures.take = async (asked) => {
      const answer = await take(asked);
      if (answer.ok) taken += 1;
      return answer;
    };
    const { steps, code } = await run(act, { ...over, disclosures });
    expect(code).not.toBe('ok');
    expect(names(steps)).not.toContain('give');
    expect(taken).toBe(0);
  });

  test('what gave nothing is not counted, but a file or a request may have left', async () => {
    const { code, counted, steps } = await run(act, {}, { fetched: failed('service.refused') });
    expect(code).toBe('service.refused');
    const isOne = action === 'Reveal' || action === 'Copy';
    expect(counted).toEqual(isOne ? null : amounts[action]);
    // The line of its end says so too: what is counted is read from there.
    expect(steps.at(-1)).toEqual(['end', false, 'service.refused', ...(isOne ? [{}] : [])]);
  });

  test('what could not be given ends as failed', async () => {
    const { steps } = await run(act, {}, { given: failed('file.disk-full') });
    expect(steps.at(-1)?.slice(0, 3)).toEqual(['end', false, 'file.disk-full']);
  });
});

test.each(['Reveal', 'Copy'] as const)('%s is throttled before it is in the log', async (action) => {
  const { steps, code } = await run(acts[action], {
    reveals: { allow: () => failed('reveal.throttled'), shown: () => null, epoch: () => 0 },
  });
  expect([code, steps]).toEqual(['reveal.throttled', []]);
});

test.each(kinds)('%s that was asked for before the app locked', async (action, act) => {
  let epoch = 0;
  const reveals = { allow: () => done(null), shown: () => null, epoch: () => epoch };
  const given: string[] = [];
  let left: Counted | undefined;
  const ends: unknown[] = [];
  const gate = gateWith({
    reveals,
    audit: auditWith(() => Promise.resolve(done(({ ok, code }) => ends.push([ok, code])))),
    disclosures: { ...counts, giveBack: (taken) => ((left = taken), Promise.resolve()) },
  });
  const outcome = await gate.open(act, {
    // Unlocked again before the service answers.
    fetch: () => ((epoch += 1), done('4111')),
    give: (value) => (given.push(value), done('shown')),
  });
  const isOne = action === 'Reveal' || action === 'Copy';
  expect(codeOf(outcome)).toBe(isOne ? 'app.locked' : 'ok');
  expect(given).toEqual(isOne ? [] : ['4111']);
  expect(left).toEqual(isOne ? amounts[action] : undefined);
  expect(ends).toEqual([isOne ? [false, 'app.locked'] : [true, undefined]]);
});

test.each(['Export', 'Match', 'Guess'] as const)(
  '%s in production asks for the row count as typed',
  async (action) => {
    const act = { ...acts[action], grounds: { ...grounds, confirmRows: 8 } };
    expect((await run(act)).code).toBe('export.confirm');
    expect((await run({ ...act, grounds: { reason: 'Refund', caseReference: 'D-1' } })).code).toBe(
      'export.confirm',
    );
    expect((await run({ ...act, environment: 'test' })).code).toBe('ok');
  },
);

test.each([
  ['forbidden', false, 'export.forbidden'],
  ['forbidden', true, 'export.forbidden'],
  ['encrypted', false, 'export.unencrypted'],
  ['encrypted', true, 'ok'],
] as const)('an administrator’s "%s" and a file encrypted: %s', async (cleartextExport, encrypted, code) => {
  const act = { ...acts.Export, export: { encrypted } } as CleartextAct;
  expect((await run(act, { managed: { cleartextExport } })).code).toBe(code);
});

test('a value that is shown, or about to be, is not revealed again', async () => {
  const reveals = { allow: () => done(null), shown: () => 'one', epoch: () => 0 };
  expect(await run(acts.Reveal, { reveals })).toMatchObject({
    steps: [],
    code: 'reveal.shown',
    counted: null,
  });
  expect((await run({ ...acts.Reveal, subject: 'two' } as CleartextAct, { reveals })).code).toBe('ok');
  expect((await run(acts.Copy, { reveals })).code).toBe('ok');

  const gate = gateWith();
  let answer = (_: Outcome<string>): void => undefined;
  const fetched = new Promise<Outcome<string>>((resolve) => (answer = resolve));
  const open = (): Promise<Outcome<string>> => gate.open(acts.Reveal, { fetch: () => fetched, give: done });
  const first = open();
  expect(codeOf(await open())).toBe('reveal.shown');
  answer(done('4111'));
  expect(codeOf(await first)).toBe('ok');
  // It was hidden meanwhile, as far as this gate knows.
  expect(codeOf(await open())).toBe('ok');
});
