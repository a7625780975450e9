import { describe, expect, it } from 'vitest';
import { openApi } from '../../../src/lib/api.ts';
import { AppStore } from '../../../src/lib/app-store.svelte.ts';
import { formatClearing } from '../../../src/lib/copied.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import { LookupController } from '../../../src/features/lookup/lookup.svelte.ts';
import { obscuredOf } from '../../support/obscured-text.ts';
import { createFakeBridge, type FakeOptions } from '../support/fake-bridge.ts';
import * as data from '../support/fake-data.ts';

async function open(options: FakeOptions = {}) {
  const fake = createFakeBridge({ lookups: structuredClone(data.lookups), ...options });
  const app = new AppStore(openApi(fake.bridge));
  await app.load();
  const batches: string[] = [];
  const controller = new LookupController(app, app.api, ({ name }) => batches.push(name));
  await controller.load();
  return { fake, app, controller, batches };
}

describe('a lookup', () => {
  it('sends the tidied token and says what was removed', async () => {
    const { fake, app, controller } = await open();
    app.caseReference = ' D-1 ';
    controller.field.set('4111 1173-0921 1111');
    expect(await controller.mask()).toBe(true);
    expect(fake.seen.find(({ name }) => name === 'lookup.mask')?.input).toEqual({
      policy: 'dispute-desk',
      definition: 'card-number',
      token: '4111117309211111',
      caseReference: 'D-1',
    });
    expect(controller.field.removed).toBe('Removed 2 spaces and 1 dash.');
    expect(controller.current?.masked).toBe('411111******1111');
  });

  it('W8 a failure goes with its connection, and is there again with it', async () => {
    const { app, fake, controller } = await open({
      fail: { 'lookup.mask': { code: 'service.unreachable' } },
    });
    const { service } = data.appState();
    if (service === null) throw new Error('no service');
    controller.field.set('4111117309211111');
    await controller.mask();
    expect(controller.failure?.code).toBe('service.unreachable');
    await app.choose(data.production.id, 'analyst');
    expect(controller.failure).toBeNull();
    await app.choose(data.builtIn.id, 'dispute-desk');
    fake.change({ service: { ...service, offlineSince: data.at(1) } });
    expect(controller.failure?.code).toBe('service.unreachable');
    // Something else was answered: the outage is over, and its sentence with it.
    fake.change({ service });
    expect(controller.failure).toBeNull();
  });

  it('W26 why it failed stays while it is tried again', async () => {
    let answer = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (answer = resolve));
    let tries = 0;
    const { controller } = await open({
      answers: {
        'lookup.mask': async () => {
          tries += 1;
          if (tries === 2) await waiting;
          return failed('service.unreachable');
        },
      },
    });
    controller.field.set('4111117309211111');
    await controller.mask();
    const again = controller.mask({ isAgain: true });
    expect(controller.failure?.code).toBe('service.unreachable');
    answer();
    await again;
    expect([tries, controller.failure?.code]).toEqual([2, 'service.unreachable']);
  });

  it('sends no request for an empty input', async () => {
    const { fake, controller } = await open();
    controller.field.set('  ');
    expect(await controller.submit()).toBe('nothing');
    expect(fake.seen.some(({ name }) => name === 'lookup.mask')).toBe(false);
  });

  it.each([
    ['4111 1111 1111 1111', 'card'],
    ['41111173092111114111117309211111', 'unlikely'],
    ['4111 11•• •••• 1111', 'unlikely'],
    ['D-20931', 'case'],
  ] as const)('sends nothing for %s at once', async (text, submitted) => {
    const { fake, controller } = await open();
    controller.paste(text);
    expect(await controller.submit()).toBe(submitted);
    expect(fake.seen.some(({ name }) => name === 'lookup.mask')).toBe(false);
  });

  it('makes a token of a card number in the field, which has the token then', async () => {
    const { fake, controller } = await open();
    controller.paste('4111 1111 1111 1111');
    expect(await controller.tokenizeInstead()).toBe(true);
    expect(JSON.stringify(fake.seen)).not.toContain('4111111111111111');
    expect(controller.field.text).toBe(controller.current?.token);
  });

  it('shows a token that passes the check of card numbers once the service found it, and in the list', async () => {
    const { controller } = await open();
    controller.field.paste('4111111111111111');
    expect(await controller.submit()).toBe('card');
    expect(await controller.mask()).toBe(true);
    expect([controller.field.hasCard, controller.field.text]).toEqual([false, '4111111111111111']);
    const found = controller.current;
    controller.clear();
    if (found !== null) controller.pick(found);
    expect([controller.field.hasCard, controller.field.text]).toEqual([false, '4111111111111111']);
  });

  it('offers to translate only to what the value can fit', async () => {
    const { controller } = await open();
    const targetsOf = (definition: string) => {
      const lookup = data.lookups.find((one) => one.definition === definition);
      controller.pick(lookup ?? (undefined as never));
      return controller.targets.map(({ name }) => name);
    };
    expect(targetsOf('card-number')).toEqual(['free-text']);
    expect(targetsOf('email')).toEqual(['free-text']);
    expect(targetsOf('free-text')).toEqual(['card-number', 'ssn', 'email']);
  });

  it('offers a target that another policy may translate to, under that policy', async () => {
    const refusing = (policy: string, ...definitions: string[]) => ({
      policy,
      testedAt: data.lookups[0]?.at ?? '',
      definitions: definitions.map((definition) => ({
        definition,
        known: true,
        allowed: [],
        refused: ['Translate' as const],
      })),
    });
    const grants = [refusing('dispute-desk', 'free-text', 'ssn'), refusing('analyst', 'ssn')];
    const connection = { ...data.production, policies: ['dispute-desk', 'analyst'], grants };
    const { controller } = await open({
      state: data.appState({
        connections: [connection],
        active: { connectionId: connection.id, policy: 'dispute-desk' },
      }),
    });
    const of = (wanted: string) => {
      const found = data.lookups.find(({ definition }) => definition === wanted);
      if (found === undefined) throw new Error('none');
      return { ...found, connectionId: connection.id };
    };
    controller.pick(of('free-text'));
    expect(controller.targets.map(({ name }) => name)).toEqual(['card-number', 'email']);
    controller.pick(of('card-number'));
    controller.open('translate');
    expect(controller.target).toEqual({ policy: 'analyst', definition: 'free-text' });
  });

  it('says what is on the clipboard until it is cleared', async () => {
    const { fake, controller } = await open();
    controller.pick(data.lookups[0] ?? (undefined as never));
    await controller.copy('token');
    expect(controller.copied).toMatchObject({ what: 'token' });
    await controller.clearClipboard();
    expect(controller.copied).toBeNull();
    expect(fake.seen.at(-1)?.name).toBe('lookup.clearClipboard');
  });

  it('promises no more than the system keeps: under Wayland the window has to have the focus', async () => {
    const { controller } = await open({
      answers: { 'lookup.copy': () => done({ clearAfterMs: 30_000, needsFocus: true }) },
    });
    controller.pick(data.lookups[0] ?? (undefined as never));
    await controller.copy('token');
    expect(controller.copied).toMatchObject({ what: 'token', needsFocus: true });
    expect(formatClearing({ clearAfterMs: 30_000 })).toBe('The clipboard is cleared after 30 s.');
    expect(formatClearing({ clearAfterMs: 30_000, needsFocus: true })).toBe(
      'The clipboard is cleared after 30 s, once this window has the focus.',
    );
  });

  it('gives the focus to its result with the result, and to nothing later', async () => {
    let [listed, slow]: [() => void, Promise<void> | null] = [() => undefined, null];
    const { controller } = await open({
      answers: {
        'lookup.recent': async () => {
          await slow;
          return done([]);
        },
      },
    });
    slow = new Promise<void>((resolve) => (listed = resolve));
    controller.field.set('4111117309211111');
    const found = controller.mask();
    await expect.poll(() => controller.current?.token).toBe('4111117309211111');
    expect(controller.wantsFocus).toBe(true);
    // The page has given it.
    controller.wantsFocus = false;
    listed();
    expect(await found).toBe(true);
    expect(controller.wantsFocus).toBe(false);
  });

  it('leaves the focus with somebody who types the next token', async () => {
    const { controller } = await open();
    controller.field.set('4111117309211111');
    const found = controller.mask();
    controller.field.set('41111');
    expect(await found).toBe(true);
    expect([controller.wantsFocus, controller.field.text]).toEqual([false, '41111']);
  });

  it('shows the answer to the last request only', async () => {
    const slow = Promise.withResolvers<null>();
    let asked = 0;
    const lookup = data.lookups[0];
    if (lookup === undefined) throw new Error('no lookup');
    const { controller } = await open({
      answers: {
        'lookup.mask': async ({ token }) => {
          asked += 1;
          if (asked === 1) await slow.promise;
          return { ok: true, value: { ...lookup, id: `of-${token}`, token } };
        },
      },
    });
    controller.field.set('1111');
    const first = controller.mask();
    controller.field.set('2222');
    await controller.mask();
    slow.resolve(null);
    expect(await first).toBe(false);
    expect(controller.current?.token).toBe('2222');
  });

  it('shows a refusal without the mask of an earlier lookup', async () => {
    const { controller } = await open({ fail: { 'lookup.mask': { code: 'service.refused', policy: 'p' } } });
    controller.pick(data.lookups[0] ?? (undefined as never));
    controller.field.set('4111');
    await controller.mask();
    expect(controller.failure?.code).toBe('service.refused');
    expect(controller.current).toBeNull();
  });

  it('W19 leads from a refusal to a policy that may, and looks the token up under it', async () => {
    const grants = ['dispute-desk', 'analyst'].map((policy) => ({
      policy,
      testedAt: data.lookups[0]?.at ?? '',
      definitions: [{ definition: 'card-number', known: true, allowed: [], refused: [] }],
    }));
    const connection = { ...data.production, policies: ['dispute-desk', 'analyst'], grants };
    const [lookup] = data.lookups;
    if (lookup === undefined) throw new Error('no lookup');
    const { app, controller } = await open({
      state: data.appState({
        connections: [connection],
        active: { connectionId: connection.id, policy: 'dispute-desk' },
      }),
      answers: {
        'lookup.mask': ({ policy, token }) =>
          policy === 'analyst'
            ? done({ ...lookup, policy, token, connectionId: connection.id })
            : failed('service.refused', { policy }),
      },
    });
    controller.field.set('4111117309211111');
    expect(controller.allowedPolicy).toBeNull();
    await controller.mask();
    expect([controller.failure?.code, controller.allowedPolicy]).toEqual(['service.refused', 'analyst']);
    await controller.usePolicy('analyst');
    expect([app.policy, controller.failure, controller.current?.policy]).toEqual([
      'analyst',
      null,
      'analyst',
    ]);
  });

  it('W22 calls a result that of the token before as soon as another one is entered', async () => {
    const { controller } = await open();
    controller.field.set('4111117309211111');
    await controller.mask();
    expect(controller.isOutdated).toBe(false);
    controller.field.set('4111 1173-0921 1111');
    expect(controller.isOutdated).toBe(false);
    controller.field.set('4222117309212222');
    expect(controller.isOutdated).toBe(true);
    controller.field.set('');
    expect(controller.isOutdated).toBe(false);
    controller.field.paste('4111 1111 1111 1111');
    expect(controller.isOutdated).toBe(true);
  });

  it('offers several pasted lines as a batch', async () => {
    const { fake, controller, batches } = await open();
    controller.paste('4111\n5222\n\n');
    expect(controller.field.pasted?.lines).toBe(2);
    expect(controller.field.text).toBe('');
    await controller.batchPasted();
    expect(batches).toEqual(['Pasted lines']);
    expect(fake.seen.some(({ name }) => name === 'lookup.mask')).toBe(false);
  });

  it('walks the lookups of the present case', async () => {
    const { app, controller } = await open();
    app.caseReference = 'D-20917';
    controller.walk(1);
    expect(controller.current?.id).toBe('lookup-6');
    controller.walk(1);
    expect(controller.current?.id).toBe('lookup-5');
    controller.walk(1);
    expect(controller.current?.id).toBe('lookup-5');
    controller.walk(-1);
    expect(controller.current?.id).toBe('lookup-6');
  });
});

describe('a reveal', () => {
  it('sends reason and case, and hides on the next lookup', async () => {
    const { fake, app, controller } = await open();
    controller.pick(data.lookups[0] ?? (undefined as never));
    controller.open('reveal');
    controller.caseReference = 'D-20931';
    app.reason = 'Chargeback response';
    await controller.reveal();
    expect(fake.seen.find(({ name }) => name === 'lookup.reveal')?.input).toMatchObject({
      lookupId: 'lookup-9',
      reason: 'Chargeback response',
      caseReference: 'D-20931',
    });
    expect(controller.isRevealed).toBe(true);
    expect(controller.panel).toBeNull();
    // The answer brings the changed lookup: the list is not asked for again.
    expect(controller.recent.find(({ id }) => id === 'lookup-9')?.revealedAt).not.toBeNull();
    expect(fake.seen.filter(({ name }) => name === 'lookup.recent')).toHaveLength(1);
    expect(app.caseReference).toBe('D-20931');
    controller.field.set('4111');
    await controller.mask();
    expect(app.revealed.now).toBeNull();
  });

  it('W3 has no reason that nobody chose; the one given stays for its case alone', async () => {
    const { app, controller } = await open();
    expect([app.reason, app.reasonGivenFor(''), app.reasonGivenFor('D-1')]).toEqual(['', '', '']);
    expect(app.hasGrounds('D-1')).toBe(false);
    controller.pick(data.lookups[0] ?? (undefined as never));
    controller.open('reveal');
    controller.caseReference = 'D-1';
    app.reason = 'Refund';
    await controller.reveal();
    expect(['D-1', ' D-1 ', 'D-2', ''].map((reference) => app.reasonGivenFor(reference))).toEqual([
      'Refund',
      'Refund',
      '',
      '',
    ]);
  });

  it('is not shown when the app was locked meanwhile', async () => {
    const answer = Promise.withResolvers<null>();
    const { fake, app, controller } = await open({
      answers: {
        'lookup.reveal': async () => {
          await answer.promise;
          return {
            ok: true,
            value: {
              revealId: 'late',
              obscured: 'x',
              hideAfterMs: 20_000,
              requestId: 'r',
              lookup: data.lookups[0] ?? (undefined as never),
            },
          };
        },
      },
    });
    controller.pick(data.lookups[0] ?? (undefined as never));
    app.reason = 'Refund';
    const revealing = controller.reveal();
    fake.change({ lock: { locked: true, passphraseSet: false, waitMs: 0 } });
    answer.resolve(null);
    await revealing;
    expect(app.revealed.now).toBeNull();
  });

  it('ends with the lock', async () => {
    const { fake, app, controller } = await open();
    controller.pick(data.lookups[0] ?? (undefined as never));
    app.reason = 'Refund';
    await controller.reveal();
    expect(app.revealed.now).not.toBeNull();
    fake.change({ lock: { locked: true, passphraseSet: false, waitMs: 0 } });
    expect(app.revealed.now).toBeNull();
  });
});

it('has a new token in its field at once, and leaves what is typed after it', async () => {
  const { controller } = await open();
  const made = controller.tokenize(obscuredOf('4000123412341234'));
  while (controller.current === null) await Promise.resolve();
  expect(controller.field.text).toBe(controller.current.token);
  controller.field.set('the next token');
  expect(await made).toBe(true);
  expect(controller.field.text).toBe('the next token');
});

it('keeps no copy of a tokenized value', async () => {
  const { controller } = await open();
  controller.setMode('cleartext');
  await controller.tokenize(obscuredOf('4000123412341234'));
  expect(JSON.stringify([controller.field.text, controller.current, controller.recent])).not.toContain(
    '40001234',
  );
});

describe('a failed request that is tried again', () => {
  const refused = { operation: 'Detokenize', definition: 'ssn', policy: 'mask-only' } as const;

  it('fills in definition and policy, and opens its panel once the token is looked up', async () => {
    const { fake, app, controller } = await open();
    await controller.tryAgain(refused);
    expect(app.policy).toBe('mask-only');
    expect(controller.definition.name).toBe('ssn');
    expect(controller.retry).toEqual(refused);
    controller.field.set('917-22-4410');
    expect(await controller.mask()).toBe(true);
    expect(controller.panel).toBe('reveal');
    expect(controller.retry).toBeNull();
    expect(fake.seen.some(({ name }) => name === 'lookup.reveal')).toBe(false);
    controller.close();
    await controller.mask();
    expect(controller.panel).toBeNull();
  });

  it('fills in only what this connection has', async () => {
    const { app, controller } = await open();
    await controller.tryAgain({ operation: 'Tokenize', definition: 'iban', policy: 'nobody' });
    expect(app.policy).toBe('dispute-desk');
    expect(controller.mode).toBe('cleartext');
    expect(controller.definition.name).toBe('card-number');
    expect(controller.retry?.policy).toBe('');
  });

  it('is forgotten with everything else when the list is cleared', async () => {
    const { controller } = await open();
    await controller.tryAgain(refused);
    await controller.forget();
    expect(controller.retry).toBeNull();
  });
});
