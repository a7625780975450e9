import { describe, expect, test } from 'vitest';
import { done, failed, type Outcome } from '../../../electron/contract/errors.ts';
import type { CleartextAct, CleartextGateOptions } from '../../../electron/privacy/cleartext-act.ts';
import { codeOf } from '../../support/batch-app.ts';
import { counts, gateWith } from '../../support/cleartext-gate.ts';
import { auditWith } from '../../support/fake-audit.ts';

/* The one gate, for every kind of act in the same way. */

const where = { connection: 'Acme', environment: 'production', policy: 'p', definition: 'd' };
const grounds = { reason: 'Refund', caseReference: 'D-1', confirmRows: 7 };
const acts: Readonly<Record<CleartextAct['action'], CleartextAct>> = {
  Reveal: { ...where, action: 'Reveal', grounds },
  Copy: { ...where, action: 'Copy', grounds },
  Export: { ...where, action: 'Export', grounds, rows: 7, rowsOfLine: 9, export: { encrypted: false } },
  Match: { ...where, action: 'Match', grounds, rows: 7, patterns: ['^4', '1$'], confirmsRows: true },
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
): Promise<{ steps: Step[]; code: string; amounts: number }> {
  const steps: Step[] = [];
  let amounts = 0;
  const audit = {
    ...auditWith((intent) => {
      steps.push(['begin', intent.action, intent.reason, intent.caseReference, intent.rows, intent.note]);
      return Promise.resolve(done(({ ok, code }) => steps.push(['end', ok, code])));
    }),
    anchor: () => (steps.push(['anchor']), Promise.resolve(done(null))),
  };
  const disclosures: CleartextGateOptions['disclosures'] = {
    ...counts,
    count: (_kind, amount) => (
      (amounts += amount),
      steps.push(['count', amount]),
      Promise.resolve(done(null))
    ),
    countMatch: (_prints, amount) => (
      (amounts += amount),
      steps.push(['count', amount]),
      Promise.resolve(done(null))
    ),
  };
  const gate = gateWith({ audit, disclosures, ...over });
  const outcome = await gate.open(act, {
    fetch: () => (steps.push(['fetch']), fetched),
    give: (value) => (steps.push(['give', value]), given),
  });
  return { steps, code: codeOf(outcome), amounts };
}

const names = (steps: readonly Step[]): unknown[] => steps.map(([name]) => name);

describe.each(kinds)('%s', (action, act) => {
  test('is in the log, anchored and counted before anything is given, and ends in the log', async () => {
    const { steps, code, amounts } = await run(act);
    expect(code).toBe('ok');
    expect(steps[0]).toEqual([
      'begin',
      action,
      'Refund',
      'D-1',
      { Reveal: 1, Copy: 1, Export: 9, Match: 7 }[action],
      action === 'Match' ? 'expression 0123456789abcdef, 0123456789abcdef' : undefined,
    ]);
    expect(names(steps).slice(1, 4).sort()).toEqual(['anchor', 'count', 'fetch']);
    expect(steps.slice(4)).toEqual([
      ['give', '4111'],
      ['end', true, undefined],
    ]);
    expect(amounts).toBe({ Reveal: 1, Copy: 1, Export: 7, Match: 14 }[action]);
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
      expect(gateWith(over).check({ ...act, ...more })?.failure.code).toBe(refused);
    },
  );

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
          count: () => Promise.resolve(failed('file.disk-full')),
          countMatch: () => Promise.resolve(failed('file.disk-full')),
        },
      },
    ],
    [
      'a limit is reached',
      {
        disclosures: {
          ...counts,
          check: () => failed('disclosure.limit'),
          countMatch: () => Promise.resolve(failed('disclosure.limit')),
        },
      },
    ],
  ] as const)('gives nothing where %s', async (_why, over) => {
    const { steps, code } = await run(act, over);
    expect(code).not.toBe('ok');
    expect(names(steps)).not.toContain('give');
  });

  test('what gave nothing is not counted, but a file or a request may have left', async () => {
    const { code, amounts } = await run(act, {}, { fetched: failed('service.refused') });
    expect(code).toBe('service.refused');
    expect(amounts).toBe({ Reveal: 0, Copy: 0, Export: 7, Match: 14 }[action]);
  });

  test('what could not be given ends as failed', async () => {
    const { steps } = await run(act, {}, { given: failed('file.disk-full') });
    expect(steps.at(-1)?.[0] === 'end' ? steps.at(-1) : steps.find(([name]) => name === 'end')).toEqual([
      'end',
      false,
      'file.disk-full',
    ]);
  });
});

test.each(['Reveal', 'Copy'] as const)('%s is throttled before it is in the log', async (action) => {
  const { steps, code } = await run(acts[action], { reveals: { allow: () => failed('reveal.throttled') } });
  expect([code, steps]).toEqual(['reveal.throttled', []]);
});

test.each(['Export', 'Match'] as const)(
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
