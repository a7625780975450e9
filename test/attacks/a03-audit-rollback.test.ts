import fs from 'node:fs';
import { noHashes } from '../support/token-hashes.ts';
import path from 'node:path';
import { render } from 'svelte/server';
import { expect, test } from 'vitest';
import type { Audit } from '../../electron/audit/audit.ts';
import { createChainEntry } from '../../electron/audit/checkpoint.ts';
import { done, failed } from '../../electron/contract/errors.ts';
import { newXorKey } from '../../electron/contract/obscured.ts';
import { createKeychain } from '../../electron/storage/keychain.ts';
import { openLookup } from '../../electron/lookup/lookup.ts';
import type { ServiceClient } from '../../electron/service/service-client.ts';
import AuditNotice from '../../src/app/AuditNotice.svelte';
import { everything, logFolder, value } from '../support/audit-folder.ts';
import { detokenize, fakeService, someGrounds, openApp, planOf } from '../support/batch-app.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { gateWith } from '../support/cleartext-gate.ts';
import { fakeKeyring, testEntry, testHomeId } from '../support/fake-keyring.ts';

const masked = { action: 'GetMasked', caseReference: 'D-1' };
const reason = { reason: 'Refund', caseReference: 'D-1' };

/** A log with its key and anchor in a keyring. The attacker may copy and replace files, not the keyring's entries. */
function workstation() {
  const keyring = fakeKeyring();
  const log = logFolder();
  const names: string[] = [];
  const home = path.join(log.root, 'log');
  const checkpoints = path.dirname(log.checkpoint);
  return {
    keyring,
    log,
    /** A start of the app. One that is not closed was killed. */
    start: () => {
      const keychain = createKeychain({
        homeId: testHomeId,
        load: () => Promise.resolve(keyring),
        index: { read: () => names, write: (next) => names.splice(0, names.length, ...next) },
        clock: fakeClock(),
      });
      const chain = createChainEntry(keychain);
      return log.open({ key: () => chain.key(), anchor: chain.anchor });
    },
    /** Copies the log and its checkpoints; the function puts the copy back, new files removed. */
    copy: () => {
      const copy = fs.mkdtempSync(path.join(log.root, 'copy-'));
      fs.cpSync(home, path.join(copy, 'log'), { recursive: true });
      fs.cpSync(checkpoints, path.join(copy, 'checkpoints'), { recursive: true });
      return () => {
        for (const folder of [home, checkpoints]) fs.rmSync(folder, { recursive: true });
        fs.cpSync(path.join(copy, 'log'), home, { recursive: true });
        fs.cpSync(path.join(copy, 'checkpoints'), checkpoints, { recursive: true });
      };
    },
  };
}

async function lookupsOn(audit: Audit, steps: string[] = []) {
  const answer = (text: string) => Promise.resolve(done({ value: text, requestId: 'r' }));
  const client = {
    getMasked: () => answer('4111••1111'),
    detokenize: () => (steps.push('asked'), answer('4111111111111111')),
  };
  const lookups = openLookup({
    active: () =>
      Promise.resolve(
        done({
          connectionId: 'c1',
          name: 'Acme',
          environment: 'test',
          builtIn: false,
          definitions: [],
          client: client as unknown as ServiceClient,
        }),
      ),
    gate: gateWith({ audit }),
    reveals: {
      open: () => (steps.push('shown'), { revealId: 'r1', hideAfterMs: 1 }),
      hide: () => undefined,
      hidden: () => undefined,
    },
    clipboard: {
      epoch: () => 0,
      write: () => (steps.push('copied'), Promise.resolve(done({ clearAfterMs: 1 }))),
      clear: () => Promise.resolve(),
    },
    hashes: noHashes,
    now: () => new Date(),
    newId: () => 'l1',
  });
  const subject = { policy: 'p', definition: 'd', token: '9', caseReference: 'D-1' };
  const { id } = value(await lookups['lookup.mask'](subject));
  return { lookups, id };
}

type Act = (audit: Audit) => Promise<unknown>;

const acts: Record<string, Act> = {
  async reveal(audit) {
    const { lookups, id } = await lookupsOn(audit);
    value(await lookups['lookup.reveal']({ lookupId: id, xorKey: newXorKey(), ...reason }));
  },
  async copy(audit) {
    const { lookups, id } = await lookupsOn(audit);
    value(await lookups['lookup.copy']({ what: 'cleartext', lookupId: id, ...reason }));
  },
  'batch reveal': async (audit) => {
    const { app, jobId } = await finishedJob(audit);
    value(await app.batch['batch.reveal']({ jobId, row: 1, column: 0, xorKey: newXorKey(), ...reason }));
    await app.close();
  },
  'typed match': async (audit) => {
    const app = await openApp({ audit });
    const sourceId = await app.open(await app.write('cards.csv', 'card\r\n9\r\n'));
    await app.run(sourceId, planOf([typedMatch]));
    await app.close();
  },
  'tried match': async (audit) => {
    const app = await openApp({ audit });
    const sourceId = await app.open(await app.write('cards.csv', 'card\r\n9\r\n'));
    value(await app.batch['batch.try']({ sourceId, plan: planOf([typedMatch]), grounds: someGrounds }));
    await app.close();
  },
  'export in clear': async (audit) => {
    const { app, jobId } = await finishedJob(audit);
    value(await app.export(jobId, { content: 'cleartext' }));
    await app.close();
  },
};

/** One bit of a hidden digit of every row. */
const typedMatch = detokenize(0, { operation: 'match', into: 'beside', pattern: '^.{7}[13579]' });

async function finishedJob(audit: Audit) {
  const app = await openApp({ audit });
  const sourceId = await app.open(await app.write('cards.csv', 'card\r\n9\r\n'));
  const { jobId } = await app.run(sourceId, planOf([detokenize(0)]));
  return { app, jobId };
}

test.each(Object.entries(acts))(
  'a %s is not undone by an older copy of the log after a kill',
  async (_, act) => {
    const { start, copy } = workstation();
    const first = await start();
    value(await first.begin(masked))({ ok: true });
    await first.close();
    const putBack = copy();
    await act(await start());
    putBack();
    const next = await start();
    expect(next.state()).toBe('broken');
    expect((await next.list(everything)).chain.state).toBe('broken');
  },
);

test('a copy made between two reveals of one run is too old', async () => {
  const { start, copy } = workstation();
  const audit = await start();
  await acts['reveal']?.(audit);
  await audit.list(everything);
  const putBack = copy();
  await acts['reveal']?.(audit);
  putBack();
  expect((await start()).state()).toBe('broken');
});

test('each start moves the anchor: a copy from before the run that was killed is too old', async () => {
  const { start, copy } = workstation();
  const first = await start();
  value(await first.begin(masked))({ ok: true });
  await first.close();
  const putBack = copy();
  const killed = await start();
  for (let count = 0; count < 5; count++) value(await killed.begin(masked))({ ok: true });
  await killed.list(everything);
  await start();
  putBack();
  expect((await start()).state()).toBe('broken');
});

test('a log that is replaced while the app runs is found by the next line and by the next list', async () => {
  for (const find of [
    (audit: Audit) => audit.begin(masked),
    (audit: Audit) => audit.list(everything),
  ] as const) {
    const { start, copy } = workstation();
    const audit = await start();
    value(await audit.begin(masked));
    const putBack = copy();
    await acts['reveal']?.(audit);
    await audit.list(everything);
    putBack();
    await find(audit);
    expect(audit.state()).toBe('broken');
  }
});

test.each(['locked', 'gone'] as const)('nothing is revealed while the keyring is %s', async (mood) => {
  const { start, keyring } = workstation();
  const audit = await start();
  const { lookups, id } = await lookupsOn(audit);
  keyring.mood = mood;
  expect(await lookups['lookup.reveal']({ lookupId: id, xorKey: newXorKey(), ...reason })).toMatchObject({
    ok: false,
    failure: { code: 'audit.unwritable' },
  });
  // What yields no cleartext goes on.
  value(await audit.begin(masked));
  const { entries } = await audit.list(everything);
  expect(entries).toContainEqual(
    expect.objectContaining({ action: 'Reveal', phase: 'failed', code: 'audit.unwritable' }),
  );
});

test('a reveal costs one write to the keychain, and a masked lookup none', async () => {
  const { start, keyring } = workstation();
  const audit = await start();
  const { lookups, id } = await lookupsOn(audit);
  value(await audit.begin(masked));
  keyring.calls.length = 0;
  value(await audit.begin(masked));
  expect(keyring.calls).toEqual([]);
  value(await lookups['lookup.reveal']({ lookupId: id, xorKey: newXorKey(), ...reason }));
  expect(keyring.calls).toEqual([`set ${testEntry('audit:key')}`]);
});

test('the value of a reveal waits for the anchor, which is written beside the request', async () => {
  const { start } = workstation();
  const real = await start();
  let write: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (write = resolve));
  const steps: string[] = [];
  const audit: Audit = {
    ...real,
    anchor: async () => {
      steps.push('anchor begins');
      await held;
      const anchored = await real.anchor();
      steps.push('anchor written');
      return anchored;
    },
  };
  const { lookups, id } = await lookupsOn(audit, steps);
  const revealed = lookups['lookup.reveal']({ lookupId: id, xorKey: newXorKey(), ...reason });
  await expect.poll(() => steps).toEqual(['anchor begins', 'asked']);
  write();
  value(await revealed);
  expect(steps).toEqual(['anchor begins', 'asked', 'anchor written', 'shown']);
});

test.each(['reveal', 'copy'] as const)('a %s whose anchor fails gives nothing out', async (kind) => {
  const { start } = workstation();
  const real = await start();
  const steps: string[] = [];
  const audit: Audit = { ...real, anchor: () => Promise.resolve(failed('audit.unwritable')) };
  const { lookups, id } = await lookupsOn(audit, steps);
  const outcome =
    kind === 'reveal'
      ? await lookups['lookup.reveal']({ lookupId: id, xorKey: newXorKey(), ...reason })
      : await lookups['lookup.copy']({ what: 'cleartext', lookupId: id, ...reason });
  expect(outcome).toMatchObject({ ok: false, failure: { code: 'audit.unwritable' } });
  expect(steps).toEqual(['asked']);
});

test("a cell's reveal whose anchor fails gives nothing out", async () => {
  const real = await workstation().start();
  const refused = failed('audit.unwritable');
  const { app, jobId } = await finishedJob({ ...real, anchor: () => Promise.resolve(refused) });
  const cell = { jobId, row: 1, column: 0, xorKey: newXorKey(), ...reason };
  expect(await app.batch['batch.reveal'](cell)).toEqual(refused);
  await expect
    .poll(async () => (await real.list(everything)).entries[0])
    .toMatchObject({ action: 'Reveal', phase: 'failed', code: 'audit.unwritable' });
  expect(value(await app.disclosures.today()).reveals).toBe(0);
  await app.close();
});

test('an act that can not be held back begins after its anchor', async () => {
  const { start, keyring } = workstation();
  const audit = await start();
  value(await audit.begin(masked));
  const before = keyring.entries.get(testEntry('audit:key'));
  const begun = value(await audit.begin({ ...masked, action: 'Reveal', cleartext: true }));
  const after = keyring.entries.get(testEntry('audit:key')) ?? '';
  expect(after).not.toBe(before);
  expect(JSON.parse(after.slice(after.indexOf(' ')))).toMatchObject({ sequence: 2 });
  begun({ ok: true });
});

test('a typed match is asked of the service after its anchor', async () => {
  const { start, keyring } = workstation();
  const audit = await start();
  const anchored = (): number =>
    Number(/"sequence":(\d+)/.exec(keyring.entries.get(testEntry('audit:key')) ?? '')?.[1] ?? 0);
  const order: string[] = [];
  const service = fakeService();
  const answer = service.answer;
  service.answer = (call, elements) => {
    order.push(`${call.operation} after ${anchored()}`);
    return answer(call, elements);
  };
  value(await audit.begin(masked))({ ok: true });
  const app = await openApp({ audit, service });
  const sourceId = await app.open(await app.write('cards.csv', 'card\r\n9\r\n'));
  const before = anchored();
  value(await app.batch['batch.try']({ sourceId, plan: planOf([typedMatch]), grounds: someGrounds }));
  const asked = order.filter((step) => step.startsWith('PatternMatch'));
  expect(asked).toHaveLength(1);
  expect(Number(asked[0]?.split(' ').at(-1))).toBeGreaterThan(before);
  await app.close();
});

test('the window says it in red on every page', () => {
  const { body } = render(AuditNotice);
  expect(body).toContain('The audit log has been changed');
  expect(body).toContain('role="alert"');
  const app = fs.readFileSync(new URL('../../src/app/App.svelte', import.meta.url), 'utf8');
  const frame = app.slice(app.indexOf('<main>'), app.indexOf('<Pages'));
  expect(frame).toContain("{#if app.state.audit === 'broken'}<AuditNotice />{/if}");
});
