import fs from 'node:fs';
import { noHashes } from '../../support/token-hashes.ts';
import { afterEach, expect, test } from 'vitest';
import type { Audit } from '../../../electron/audit/audit.ts';
import { detailsOf } from '../../../electron/audit/entries.ts';
import { createRequestAudit } from '../../../electron/connections/clients.ts';
import { done } from '../../../electron/contract/errors.ts';
import { newXorKey } from '../../../electron/contract/obscured.ts';
import { openLookup } from '../../../electron/lookup/lookup.ts';
import { connectTo, type ClientSide } from '../../faults/client-side.ts';
import { send, startFaultServer, type FaultServer, type Script } from '../../faults/fault-server.ts';
import { tokenOf } from '../../faults/model-service.ts';
import { gateWith } from '../../support/cleartext-gate.ts';
import { everything, logFolder, value } from '../../support/audit-folder.ts';

const connection = { name: 'Acme', environment: 'test' };
const subject = { policy: 'p', definition: 'card' };
const reason = { reason: 'Refund', caseReference: 'D-1' };
const opened: (ClientSide['client'] | FaultServer)[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** Lookups over the real client, a real server and a real log; one token is looked up and the session is open. */
async function open() {
  const log = logFolder();
  const audit = await log.open();
  const server = await startFaultServer();
  const { client } = connectTo(server, { auditRequest: createRequestAudit(audit, connection) });
  opened.push(client, server);
  let next = 0;
  const lookups = openLookup({
    active: () =>
      Promise.resolve(done({ connectionId: 'c1', builtIn: false, definitions: [], ...connection, client })),
    gate: gateWith({ audit }),
    reveals: {
      open: () => ({ revealId: 'r1', hideAfterMs: 1 }),
      hide: () => undefined,
      hidden: () => undefined,
    },
    clipboard: {
      epoch: () => 0,
      write: () => Promise.resolve(done({ clearAfterMs: 1 })),
      clear: () => Promise.resolve(),
    },
    hashes: noHashes,
    now: () => new Date(),
    newId: () => `l${++next}`,
  });
  const { id } = value(
    await lookups['lookup.mask']({ ...subject, token: tokenOf('4111'), caseReference: '' }),
  );
  const before = (await audit.list(everything)).total;
  return { audit, before, server, client, lookups, id, file: log.file(1) };
}

/** What was written since the token was looked up, the oldest first. */
async function linesSince(audit: Audit, before: number): Promise<string[]> {
  const { entries } = await audit.list(everything);
  return entries
    .toReversed()
    .slice(before)
    .map((entry) => [entry.action, entry.phase, detailsOf(entry).join(', '), entry.caseReference].join(' '));
}

const acts = [
  [
    'Reveal',
    ({ lookups, id }: Opened) => lookups['lookup.reveal']({ lookupId: id, xorKey: newXorKey(), ...reason }),
  ],
  [
    'Copy',
    ({ lookups, id }: Opened) => lookups['lookup.copy']({ what: 'cleartext', lookupId: id, ...reason }),
  ],
] as const;
type Opened = Awaited<ReturnType<typeof open>>;

test.each(acts)(
  '%s writes one line, on the disk before the request leaves, and its outcome',
  async (action, act) => {
    const app = await open();
    let onDisk = '';
    const script: Script = (_hit, _response, model) => {
      onDisk = fs.readFileSync(app.file, 'utf8');
      model();
    };
    app.server.script = script;
    expect(await act(app)).toMatchObject({ ok: true });
    expect(onDisk.trim().split('\n').at(-1)).toContain(`"action":"${action}"`);
    expect(await linesSince(app.audit, app.before)).toEqual([
      `${action} begun in clear, Detokenize D-1`,
      `${action} ok in clear, Detokenize D-1`,
    ]);
  },
);

test.each(acts)('%s is in the log before its session is opened', async (action, act) => {
  const app = await open();
  app.server.service.expireAll();
  expect(await act(app)).toMatchObject({ ok: true });
  // The first request was refused as its session had ended; the repeated one has a line of its own.
  expect(await linesSince(app.audit, app.before)).toEqual([
    `${action} begun in clear, Detokenize D-1`,
    'CreateSession begun  D-1',
    'CreateSession ok  D-1',
    'Detokenize begun  D-1',
    'Detokenize ok  D-1',
    `${action} ok in clear, Detokenize D-1`,
  ]);
});

test.each(acts)('%s that the service refuses is one line and a failed outcome', async (action, act) => {
  const app = await open();
  app.server.script = (_hit, response) => send(response, 404, {});
  expect(await act(app)).toMatchObject({ ok: false });
  expect(await linesSince(app.audit, app.before)).toEqual([
    `${action} begun in clear, Detokenize D-1`,
    `${action} failed Detokenize D-1`,
  ]);
});

test.each(acts)('%s whose request never left says so', async (action, act) => {
  const app = await open();
  await app.client.close();
  expect(await act(app)).toMatchObject({ ok: false });
  expect(await linesSince(app.audit, app.before)).toEqual([
    `${action} begun in clear, Detokenize D-1`,
    `${action} failed Detokenize, not sent D-1`,
  ]);
});

test('the line of a request of many says how many values were refused, by code', async () => {
  const app = await open();
  const elements = [tokenOf('4111'), 'no token', 'nor this'].map((value, at) => ({ ref: `${at}`, value }));
  const target = { operation: 'BatchDetokenize', ...subject } as const;
  value(await app.client.batch(target, elements, { rows: 3 }));
  const { entries } = await app.audit.list(everything);
  expect(entries[0]).toMatchObject({
    action: 'BatchDetokenize',
    phase: 'ok',
    rows: 3,
    refused: { 'service.token-invalid': 2 },
    note: null,
  });
});
