import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { obscureText, newXorKey } from '../../../electron/contract/obscured.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import { createConnectionHandlers } from '../../../electron/connections/calls.ts';
import { auditWith } from '../../support/fake-audit.ts';
import { fakeClock } from '../../support/fake-clock.ts';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'chosen-'));
});
afterEach(() => {
  fs.rmSync(folder, { recursive: true });
});

const xorKey = newXorKey();
const input = { id: 'c1', passphrase: { xorKey, obscured: obscureText('canary', xorKey) } };
const named = { subject: 'CN=Till 4', expires: '2027-06-30' };

/** The handlers with connections that record what they are given. */
function app(chosen: string | null, builtIn = false) {
  const recorded: unknown[] = [];
  const stored: { pfx: string; passphrase: string }[] = [];
  const dropped: string[] = [];
  const handlers = createConnectionHandlers({
    platform: {
      chooseFile: (kind) => Promise.resolve(kind === 'certificate' ? chosen : null),
      confirm: () => Promise.resolve(null),
    },
    connections: {
      find: () => done({ name: 'Acme', environment: 'test', builtIn }),
      storeCertificate: (_: string, pfx: Buffer, passphrase: string) => {
        stored.push({ pfx: pfx.toString(), passphrase });
        return Promise.resolve(done(named));
      },
    } as never,
    profiles: {} as never,
    clients: { drop: (id: string) => Promise.resolve(dropped.push(id)) } as never,
    builtIn: {} as never,
    rotation: {} as never,
    audit: auditWith(({ action }) => {
      recorded.push(action);
      return Promise.resolve(done((verdict) => void recorded.push(verdict)));
    }),
    changed: () => undefined,
    now: () => new Date(0),
    clock: fakeClock(),
  });
  return { choose: handlers['connections.chooseCertificate'], recorded, stored, dropped };
}

test('a chosen certificate is stored and recorded, and the next call uses it', async () => {
  const file = path.join(folder, 'till.p12');
  fs.writeFileSync(file, 'the file');
  const { choose, recorded, stored, dropped } = app(file);
  expect(await choose(input)).toEqual(done(named));
  expect(stored).toEqual([{ pfx: 'the file', passphrase: 'canary' }]);
  expect(recorded).toEqual(['StoreCertificate', { ok: true }]);
  expect(dropped).toEqual(['c1']);
});

test('nothing is recorded when no file was chosen', async () => {
  const { choose, recorded } = app(null);
  expect(await choose(input)).toEqual(done(null));
  expect(recorded).toEqual([]);
});

test('a file over 1 MiB, a folder and a missing file are refused, and that is recorded', async () => {
  const large = path.join(folder, 'large.p12');
  fs.writeFileSync(large, Buffer.alloc(1024 * 1024 + 1));
  for (const [file, code] of [
    [large, 'certificate.invalid'],
    [folder, 'certificate.invalid'],
    [path.join(folder, 'gone.p12'), 'file.gone'],
  ] as const) {
    const { choose, recorded, stored } = app(file);
    expect(await choose(input)).toEqual(failed(code, { subject: path.basename(file) }));
    expect(recorded).toEqual(['StoreCertificate', { ok: false, code }]);
    expect(stored).toEqual([]);
  }
});

test('the built-in connection is not asked a file for', async () => {
  const { choose, recorded } = app('/nothing', true);
  expect(await choose(input)).toEqual(failed('connection.built-in'));
  expect(recorded).toEqual([]);
});
