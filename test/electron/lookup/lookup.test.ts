import { obscuredOf } from '../../support/obscured-text.ts';
import { obscureText, newXorKey } from '../../../electron/contract/obscured.ts';
import { expect, test } from 'vitest';
import { done, failed, type Outcome } from '../../../electron/contract/errors.ts';
import { openLookup, type LookupOptions } from '../../../electron/lookup/lookup.ts';
import type { ServiceClient } from '../../../electron/service/service-client.ts';
import { cleartext as inClear, type Cleartext } from '../../../electron/util/cleartext.ts';
import type { CleartextGateOptions } from '../../../electron/privacy/cleartext-act.ts';
import { counts, gateWith } from '../../support/cleartext-gate.ts';
import { noHashes } from '../../support/token-hashes.ts';
import { auditWith } from '../../support/fake-audit.ts';
import { standsDuring } from '../../support/stands-during.ts';

const cleartext = '4111111111111111';
const xorKey = newXorKey();
const token = '4111117309211111';

type Step = readonly [string, ...unknown[]];

/** Lookups over a service that knows one token, with everything that happens listed in order. */
function open(
  overrides: Partial<CleartextGateOptions & Pick<LookupOptions, 'active'>> = {},
  answers: Partial<ServiceClient> = {},
  builtIn = false,
) {
  const steps: Step[] = [];
  let next = 0;
  const answer = (value: string) => Promise.resolve(done({ value, requestId: 'req-1' }));
  const client = {
    getMasked: (...call: unknown[]) => (steps.push(['GetMasked', ...call]), answer('4111 11•• •••• 1111')),
    detokenize: (...call: unknown[]) => (steps.push(['Detokenize', ...call]), answer(cleartext)),
    tokenize: (...call: unknown[]) => (steps.push(['Tokenize', ...call]), answer(token)),
    translate: (...call: unknown[]) => (steps.push(['Translate', ...call]), answer('999')),
    ...answers,
  } as unknown as ServiceClient;
  const definitions = [{ name: subject.definition, label: 'SSN', kind: 'ssn' as const }];
  const options: LookupOptions = {
    active: () =>
      Promise.resolve(
        done({ connectionId: 'c1', name: 'Acme', environment: 'test', builtIn, definitions, client }),
      ),
    gate: gateWith({
      audit: auditWith((intent) => {
        steps.push(['begin', intent.action, intent.reason, intent.caseReference]);
        return Promise.resolve(done((end) => steps.push(['end', intent.action, end.ok, end.code])));
      }),
      ...overrides,
    }),
    reveals: {
      open: () => (steps.push(['open']), { revealId: 'r1', hideAfterMs: 20_000 }),
      hide: (id) => steps.push(['hide', id]),
      hidden: (id) => steps.push(['hidden', id]),
    },
    clipboard: {
      epoch: () => 0,
      clear: () => (steps.push(['clear']), Promise.resolve()),
      write: (text) => (steps.push(['clipboard', text]), Promise.resolve(done({ clearAfterMs: 30_000 }))),
    },
    hashes: noHashes,
    now: () => new Date('2026-01-02T03:04:05.678Z'),
    newId: () => `l${++next}`,
    ...('active' in overrides && { active: overrides.active }),
  };
  return { app: openLookup(options), steps };
}

const subject = { policy: 'p', definition: 'd', caseReference: 'D-1' };
const reason = { reason: 'Refund', caseReference: 'D-1' };

function value<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.failure.code);
  return outcome.value;
}

test('a lookup asks for the mask alone: no cleartext leaves the service', async () => {
  const { app, steps } = open();
  const found = value(await app['lookup.mask']({ ...subject, token }));
  expect(found).toMatchObject({ token, masked: '4111 11•• •••• 1111', kind: 'masked', requestId: 'req-1' });
  expect(steps.map(([step]) => step)).toEqual(['GetMasked']);
  expect(value(await app['lookup.recent']({}))).toEqual([found]);
});

test('a value that a person waits for goes before other work', async () => {
  for (const call of ['getMasked', 'tokenize', 'translate'] as const) {
    let answered = Promise.resolve();
    const slow = () => answered.then(() => done({ value: '999', requestId: 'r' }));
    const { app } = open({}, { [call]: slow });
    const calls = {
      getMasked: () => app['lookup.mask']({ ...subject, token }),
      tokenize: () => app['lookup.tokenize']({ ...subject, cleartext: obscuredOf(cleartext) }),
      translate: async () => {
        const { id } = value(await app['lookup.mask']({ ...subject, token }));
        return app['lookup.translate']({ lookupId: id, targetPolicy: 'p', targetDefinition: 'e' });
      },
    };
    const stood = await standsDuring((answer) => {
      answered = answer;
      return calls[call]();
    });
    expect([call, stood]).toEqual([call, true]);
  }
});

test('a mask of the service that shows a whole number is masked again', async () => {
  const unmasked = () => Promise.resolve(done({ value: cleartext, requestId: 'req-1' }));
  const { app, steps } = open({}, { getMasked: unmasked });
  const found = value(await app['lookup.mask']({ ...subject, token }));
  expect(found).toMatchObject({ masked: '411111••••••1111', maskedAgain: true });
  value(await app['lookup.copy']({ what: 'masked', lookupId: found.id, ...reason }));
  expect(steps).toContainEqual(['clipboard', '411111••••••1111']);
});

test.each([
  ['078051120', '•••••1120', true],
  ['078-05-1120', '•••-••-1120', true],
  ['jane.roe@example.com', 'j•••••••@example.com', true],
  ['*****1120', '*****1120', undefined],
  ['XXX-XX-1120', 'XXX-XX-1120', undefined],
  ['j***@example.com', 'j•••@example.com', undefined],
])('a mask of an SSN that comes as %s is shown as %s', async (masked, shown, maskedAgain) => {
  const { app } = open({}, { getMasked: () => Promise.resolve(done({ value: masked, requestId: 'r' })) });
  const found = value(await app['lookup.mask']({ ...subject, token }));
  expect([found.masked, found.maskedAgain]).toEqual([shown, maskedAgain]);
});

test('a reveal is recorded, then fetched, then shown, and its answer carries the changed lookup', async () => {
  const { app, steps } = open();
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  const revealed = value(await app['lookup.reveal']({ lookupId: id, xorKey, ...reason }));
  expect(revealed).toEqual({
    revealId: 'r1',
    obscured: obscureText(cleartext, xorKey),
    hideAfterMs: 20_000,
    requestId: 'req-1',
    lookup: value(await app['lookup.recent']({}))[0],
  });
  expect(steps.slice(1).map((step) => step.slice(0, 2))).toEqual([
    ['begin', 'Reveal'],
    ['Detokenize', 'p'],
    ['open'],
    ['end', 'Reveal'],
  ]);
  expect(JSON.stringify(value(await app['lookup.recent']({})))).not.toContain(cleartext);
  expect(revealed.lookup).toMatchObject({ id, revealedAt: '2026-01-02T03:04:05.678Z' });
});

test('a limit of the day that is reached asks the service for nothing in clear', async () => {
  const { app, steps } = open({
    disclosures: { ...counts, take: () => Promise.resolve(failed('disclosure.limit')) },
  });
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  expect(await app['lookup.reveal']({ lookupId: id, xorKey, ...reason })).toMatchObject({
    ok: false,
    failure: { code: 'disclosure.limit' },
  });
  expect(steps.slice(1).map((step) => step.slice(0, 4))).toEqual([
    ['begin', 'Reveal', 'Refund', 'D-1'],
    ['end', 'Reveal', false, 'disclosure.limit'],
  ]);
});

test('a value that can not be counted is not given out, though the service was asked meanwhile', async () => {
  const { app, steps } = open({
    disclosures: { ...counts, store: () => Promise.resolve(failed('keychain.locked')) },
  });
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  const revealed = await app['lookup.reveal']({ lookupId: id, xorKey, ...reason });
  expect(revealed).toEqual(failed('keychain.locked'));
  expect(steps.slice(1).map((step) => step.slice(0, 2))).toEqual([
    ['begin', 'Reveal'],
    ['Detokenize', 'p'],
    ['end', 'Reveal'],
  ]);
});

test('the request is under way while a reveal is counted, and its value waits for that', async () => {
  let counted: (outcome: Outcome<null>) => void = () => undefined;
  const counting = new Promise<Outcome<null>>((resolve) => (counted = resolve));
  const { app, steps } = open({ disclosures: { ...counts, store: () => counting } });
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  const revealed = app['lookup.reveal']({ lookupId: id, xorKey, ...reason });
  const names = () => steps.slice(1).map(([name]) => name);
  await expect.poll(names).toEqual(['begin', 'Detokenize']);
  counted(done(null));
  value(await revealed);
  expect(names()).toEqual(['begin', 'Detokenize', 'open', 'end']);
});

test('a reveal that the service refuses does not count', async () => {
  const amounts: string[] = [];
  const { app } = open(
    {
      disclosures: {
        ...counts,
        take: (counted) => (amounts.push(`take ${counted.reveals}`), Promise.resolve(done(counted))),
        giveBack: ({ reveals }) => (amounts.push(`give back ${reveals}`), Promise.resolve()),
      },
    },
    { detokenize: () => Promise.resolve(failed('service.unreachable')) },
  );
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  expect((await app['lookup.reveal']({ lookupId: id, xorKey, ...reason })).ok).toBe(false);
  expect(amounts).toEqual(['take 1', 'give back 1']);
});

test.each([
  [
    'the log can not be written',
    { audit: auditWith(() => Promise.resolve(failed('audit.unwritable'))) },
    'audit.unwritable',
  ],
  [
    'reveals are throttled',
    { reveals: { allow: () => failed('reveal.throttled'), shown: () => null, epoch: () => 0 } },
    'reveal.throttled',
  ],
] as const)('nothing is fetched while %s', async (_when, overrides, code) => {
  for (const act of ['reveal', 'copy'] as const) {
    const { app, steps } = open(overrides);
    const { id } = value(await app['lookup.mask']({ ...subject, token }));
    const outcome =
      act === 'reveal'
        ? await app['lookup.reveal']({ lookupId: id, xorKey, ...reason })
        : await app['lookup.copy']({ what: 'cleartext', lookupId: id, ...reason });
    expect(outcome).toEqual(failed(code));
    expect(steps.map(([step]) => step)).toEqual(['GetMasked']);
  }
});

test('a reveal without a case is refused where cases are required', async () => {
  const { app, steps } = open();
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  expect(await app['lookup.reveal']({ lookupId: id, xorKey, reason: 'Refund', caseReference: '' })).toEqual(
    failed('reveal.reason-required'),
  );
  expect(steps.map(([step]) => step)).toEqual(['GetMasked']);
});

test('a refused reveal is recorded as refused, and nothing opens', async () => {
  const refused = failed('service.refused', { requestId: 'req-2' });
  const { app, steps } = open({}, { detokenize: () => Promise.resolve(refused) });
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  expect(await app['lookup.reveal']({ lookupId: id, xorKey, ...reason })).toEqual(refused);
  expect(steps.at(-1)).toEqual(['end', 'Reveal', false, 'service.refused']);
  expect(steps.map(([step]) => step)).not.toContain('open');
});

test('copying cleartext goes to the clipboard and not to the window', async () => {
  const { app, steps } = open();
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  const outcome = await app['lookup.copy']({ what: 'cleartext', lookupId: id, ...reason });
  expect(outcome).toEqual(done({ clearAfterMs: 30_000 }));
  expect(steps).toContainEqual(['clipboard', cleartext]);
  expect(steps.at(-1)).toEqual(['end', 'Copy', true, undefined]);
});

test('copying the mask or the token asks the service for nothing', async () => {
  const { app, steps } = open();
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  await app['lookup.copy']({ what: 'masked', lookupId: id });
  await app['lookup.copy']({ what: 'token', lookupId: id });
  expect(steps.slice(1)).toEqual([
    ['clipboard', '4111 11•• •••• 1111'],
    ['clipboard', token],
  ]);
});

test('a token made under a policy that may not mask is kept without a mask', async () => {
  const { app } = open({}, { getMasked: () => Promise.resolve(failed('service.refused')) });
  const made = value(await app['lookup.tokenize']({ ...subject, cleartext: obscuredOf(cleartext) }));
  expect(made).toMatchObject({ token, masked: '', kind: 'tokenized', requestId: 'req-1' });
});

test('translate takes the token to its target and masks it there', async () => {
  const { app, steps } = open();
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  const target = { targetPolicy: 'p2', targetDefinition: 'd2' };
  const made = value(await app['lookup.translate']({ lookupId: id, ...target }));
  expect(made).toMatchObject({ policy: 'p2', definition: 'd2', token: '999', kind: 'translated' });
  expect(steps.slice(1).map((step) => step.slice(0, 3))).toEqual([
    ['Translate', 'p', 'd'],
    ['GetMasked', 'p2', 'd2'],
  ]);
});

test('a lookup belongs to the connection it was made on', async () => {
  let connectionId = 'c1';
  const base = open();
  const { app } = open({
    active: () =>
      Promise.resolve(
        done({
          connectionId,
          name: 'n',
          environment: 'test',
          builtIn: false,
          definitions: [],
          client: activeClient,
        }),
      ),
  });
  const activeClient = {
    getMasked: () => Promise.resolve(done({ value: 'm', requestId: 'r' })),
  } as unknown as ServiceClient;
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  connectionId = 'c2';
  expect(await app['lookup.reveal']({ lookupId: id, xorKey, ...reason })).toEqual(failed('lookup.unknown'));
  // It is listed, since its case may be open.
  expect(value(await app['lookup.recent']({}))).toMatchObject([{ id, connectionId: 'c1' }]);
  expect(base.steps).toEqual([]);
});

test('the list of lookups needs no connection that answers', async () => {
  let asked = 0;
  const { app } = open({ active: () => (asked++, Promise.resolve(failed('connection.none'))) });
  expect(value(await app['lookup.recent']({}))).toEqual([]);
  expect(asked).toBe(0);
});

test.each(['reveal', 'copy'] as const)('a %s files the lookup under its case', async (act) => {
  const { app } = open(
    {},
    { detokenize: () => Promise.resolve(done({ value: inClear(cleartext), requestId: 'req-2' })) },
  );
  const { id } = value(await app['lookup.mask']({ ...subject, caseReference: '', token }));
  const disputed = { reason: 'Refund', caseReference: 'D-20931' };
  if (act === 'reveal') {
    const { lookup } = value(await app['lookup.reveal']({ lookupId: id, xorKey, ...disputed }));
    expect(lookup).toMatchObject({ id, caseReference: 'D-20931' });
  } else value(await app['lookup.copy']({ what: 'cleartext', lookupId: id, ...disputed }));
  const [listed] = value(await app['lookup.recent']({}));
  expect(listed).toMatchObject({ caseReference: 'D-20931', requestIds: ['req-1', 'req-2'] });
  expect(listed?.[act === 'reveal' ? 'revealedAt' : 'copiedAt']).toBe('2026-01-02T03:04:05.678Z');
});

test('a lookup names its requests as the audit log does, which masks what looks like a card', async () => {
  const { app } = open(
    {},
    { getMasked: () => Promise.resolve(done({ value: '•', requestId: '4111111111111111' })) },
  );
  const made = value(await app['lookup.mask']({ ...subject, token }));
  expect(made.requestIds).toEqual(['411111••••••1111']);
});

test('a refused reveal leaves the lookup under the case it had, and so does one without a case', async () => {
  const { app } = open({ caseRequired: () => false });
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  value(await app['lookup.reveal']({ lookupId: id, xorKey, reason: 'Refund', caseReference: '' }));
  expect(value(await app['lookup.recent']({}))[0]?.caseReference).toBe('D-1');
  const refused = open({}, { detokenize: () => Promise.resolve(failed('service.refused')) });
  const other = value(await refused.app['lookup.mask']({ ...subject, token }));
  await refused.app['lookup.reveal']({ lookupId: other.id, xorKey, reason: 'x', caseReference: 'D-2' });
  expect(value(await refused.app['lookup.recent']({}))[0]?.caseReference).toBe('D-1');
});

test('a case is forgotten by itself, or all of them', async () => {
  const { app } = open();
  await app['lookup.mask']({ ...subject, token });
  await app['lookup.mask']({ ...subject, caseReference: 'D-2', token });
  value(await app['lookup.forget']({ caseReference: 'D-1' }));
  const left = value(await app['lookup.recent']({}));
  expect(left.map(({ caseReference }) => caseReference)).toEqual(['D-2']);
  value(await app['lookup.forget']({ caseReference: null }));
  expect(value(await app['lookup.recent']({}))).toEqual([]);
});

test('a reveal whose case was closed meanwhile is not shown', async () => {
  const fetched = Promise.withResolvers<Outcome<{ value: Cleartext; requestId: string }>>();
  const asked = Promise.withResolvers<null>();
  const detokenize = () => (asked.resolve(null), fetched.promise);
  const { app, steps } = open({}, { detokenize });
  const { id } = value(await app['lookup.mask']({ ...subject, token }));
  const revealing = app['lookup.reveal']({ lookupId: id, xorKey, ...reason });
  await asked.promise;
  value(await app['lookup.forget']({ caseReference: 'D-1' }));
  fetched.resolve(done({ value: inClear(cleartext), requestId: 'req-2' }));
  expect(await revealing).toEqual(failed('lookup.unknown'));
  expect(steps.map(([step]) => step)).not.toContain('open');
});

test('the sample is a token of the built-in service, and of no other', async () => {
  const builtIn = open({}, {}, true);
  expect(value(await builtIn.app['lookup.sample']({}))).toEqual({ definition: 'card-number', token });
  const own = open();
  expect(await own.app['lookup.sample']({})).toEqual(failed('connection.built-in'));
  expect(own.steps).toEqual([]);
});

test('the clipboard is cleared when a person asks for it', async () => {
  const { app, steps } = open();
  value(await app['lookup.clearClipboard']({}));
  expect(steps).toEqual([['clear']]);
});
