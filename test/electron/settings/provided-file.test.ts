import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Deployment } from '../../../electron/contract/models/deployment.ts';
import {
  createProvidedFile,
  readSigned,
  signConnections,
  type Provided,
} from '../../../electron/settings/provided-file.ts';
import { signingKey } from '../../../electron/storage/signed-document.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const key = signingKey(new Uint8Array(32).fill(1));
const stranger = signingKey(new Uint8Array(32).fill(2));
const given: Deployment = {
  format: 'tokendesk-connections',
  version: 1,
  connections: [],
  mappings: [],
  reasons: ['Refund', 'Grüße "1"'],
};

function signed(day: number, over: Partial<Deployment> = {}, by = key): string {
  const bytes = Buffer.from(JSON.stringify({ ...given, ...over }));
  const made = signConnections(bytes, { key: by, now: new Date(Date.UTC(2026, 0, day)) });
  if (!made.ok) throw new Error(made.failure.code);
  return JSON.stringify(made.value, null, 2);
}

/** A person's folder and the administrator's share. */
function workstation() {
  const home = tempFolder();
  const share = path.join(tempFolder(), 'connections.json');
  const signers = [stranger.fingerprint.replace(/^./, '0'), key.fingerprint];
  const open = (limitMs?: number) =>
    createProvidedFile({ file: share, signers, home, clock: systemClock, limitMs });
  return { home, share, open, put: (text: string) => fs.writeFileSync(share, text) };
}

const reasonsOf = ({ deployment }: Provided): readonly string[] => deployment?.reasons ?? [];
const codeOf = ({ failure }: Provided): string => failure?.code ?? '';

describe('a signed file of connections', () => {
  test('is taken by whom its signer is named, and anything in it that is changed refuses it', () => {
    const text = signed(1);
    const read = (of: string, signers = [key.fingerprint]) => {
      const outcome = readSigned(Buffer.from(of), signers);
      return outcome.ok ? outcome.value.issued : `${outcome.failure.code} ${outcome.failure.subject ?? ''}`;
    };
    expect(read(text)).toBe('2026-01-01T00:00:00.000Z');
    expect(read(text, [])).toBe(`provided.signer ${key.fingerprint}`);
    const { signature, ...rest } = JSON.parse(text) as { signature: object };
    expect(read(JSON.stringify(rest))).toBe('provided.unsigned ');
    expect(read(JSON.stringify({ ...rest, signature: null }))).toBe('provided.unsigned ');
    expect(read(JSON.stringify({ ...rest, signature: { ...signature, algorithm: 'none' } }))).toBe(
      'provided.unsigned ',
    );
    for (const [from, to] of [
      ['Refund', 'Refunds'],
      ['2026-01-01', '2026-01-02'],
      ['"version": 1', '"version": 1, "more": 1'],
    ] as const)
      expect(read(text.replace(from, to))).toBe('provided.unsigned ');
    expect(read('{')).toBe('provided.invalid it is not JSON');
    const foreign = { ...signature, publicKey: stranger.publicKey.toString('base64') };
    expect(read(JSON.stringify({ ...rest, signature: foreign }))).toBe('provided.unsigned ');
  });

  test('is signed anew with the time, and only where it is a file of connections', () => {
    const again = signConnections(Buffer.from(signed(1)), { key, now: new Date(Date.UTC(2026, 0, 9)) });
    expect(again.ok && readSigned(Buffer.from(JSON.stringify(again.value)), [key.fingerprint])).toMatchObject(
      {
        ok: true,
        value: { issued: '2026-01-09T00:00:00.000Z', signer: key.fingerprint },
      },
    );
    expect(signConnections(Buffer.from('{"format":"other"}'), { key, now: new Date() })).toMatchObject({
      ok: false,
      failure: { code: 'import.invalid', subject: 'format' },
    });
    // Signed by whoever has the key, and still no file of connections.
    const odd = { ...given, apiKey: 'canary', issued: '2026-01-01T00:00:00.000Z' };
    const signature = {
      algorithm: 'Ed25519',
      publicKey: key.publicKey.toString('base64'),
      value: key.sign(Buffer.from(JSON.stringify(odd))).toString('base64'),
    };
    expect(readSigned(Buffer.from(JSON.stringify({ ...odd, signature })), [key.fingerprint])).toMatchObject({
      failure: { code: 'provided.invalid', subject: 'apiKey' },
    });
  });
});

test('the file is taken once, and stays in force while the share is away or has another', async () => {
  const { home, share, open, put } = workstation();
  const file = open();
  expect(await file.read()).toMatchObject({ deployment: null, failure: { code: 'provided.unreachable' } });
  put(signed(2, { reasons: ['two'] }));
  const first = await file.read();
  expect(first).toMatchObject({ failure: null, taken: { issued: '2026-01-02T00:00:00.000Z' } });
  expect(reasonsOf(first)).toEqual(['two']);
  expect(await file.read()).toMatchObject({ failure: null, taken: null });

  for (const [text, code] of [
    [signed(1, { reasons: ['one'] }), 'provided.older'],
    [signed(3, { reasons: ['three'] }, stranger), 'provided.signer'],
    [JSON.stringify(given), 'provided.unsigned'],
    ['', 'provided.invalid'],
  ] as const) {
    put(text);
    // At a start of its own as well: what was taken last is known in the person's folder.
    for (const reader of [file, open()]) {
      const found = await reader.read();
      expect([codeOf(found), reasonsOf(found), found.taken]).toEqual([code, ['two'], null]);
    }
  }
  fs.rmSync(share);
  fs.mkdirSync(share);
  expect(await open().read()).toMatchObject({
    deployment: { reasons: ['two'] },
    failure: { code: 'provided.unreachable', subject: 'connections.json: it is no file' },
  });
  fs.rmdirSync(share);
  put(signed(3, { reasons: ['three'] }));
  expect(reasonsOf(await file.read())).toEqual(['three']);
  // Nobody but the signer can put another copy in its place.
  fs.writeFileSync(path.join(home, 'provided-connections.json'), JSON.stringify(given));
  fs.rmSync(share);
  expect((await open().read()).deployment).toBeNull();
});

test('a share that does not answer keeps nobody waiting, and is asked once at a time', async () => {
  const { share, open, put } = workstation();
  put(signed(1, { reasons: ['kept'] }));
  await open().read();
  const file = open(20);
  const read = fs.promises.open;
  let asked = 0;
  let answer = (): void => undefined;
  const away = new Promise<void>((settle) => (answer = settle));
  fs.promises.open = async (...args: Parameters<typeof read>) => {
    if (args[0] !== share) return read(...args);
    asked += 1;
    await away;
    return read(...args);
  };
  try {
    for (let time = 0; time < 3; time++) {
      const found = await file.read();
      expect([found.failure?.subject, reasonsOf(found)]).toEqual([
        'connections.json: it does not answer',
        ['kept'],
      ]);
    }
    expect(asked).toBe(1);
    put(signed(2, { reasons: ['late'] }));
    answer();
    await expect.poll(async () => reasonsOf(await file.read())).toEqual(['late']);
  } finally {
    fs.promises.open = read;
  }
});

test('where it can’t be remembered it is not taken: an older one could follow it', async () => {
  const { home, open, put } = workstation();
  put(signed(1));
  fs.mkdirSync(path.join(home, 'provided-connections.json'));
  expect(await open().read()).toMatchObject({
    deployment: null,
    taken: null,
    failure: { code: expect.stringMatching(/^file\./) as unknown },
  });
});
