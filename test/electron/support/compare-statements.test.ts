import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Attestation } from '../../../electron/contract/models/attestation.ts';
import { compareStatements } from '../../../electron/support/compare-statements.ts';
import { signDocument, signingKey } from '../../../electron/storage/signed-document.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const keyOf = (seed: number) => signingKey(new Uint8Array(32).fill(seed));
const folder = tempFolder;

/** The statement of one workstation, with what differs from the others. */
function statement(seed: number, over: Partial<Omit<Attestation, 'signature'>> = {}): Attestation {
  const content: Omit<Attestation, 'signature'> = {
    ...{ format: 'tokendesk-attestation', version: 1, made: '2026-01-02T00:00:00.000Z', by: 'ada' },
    workstation: `ws-0${seed}`,
    versions: {
      ...{ application: '0.1.0', electron: '45.4.1', chromium: '150', node: '24' },
      ...{ system: 'linux x64', release: `6.${seed}` },
    },
    checks: [{ name: 'fuses', ok: true, detail: 'as they were set at packaging' }],
    policy: { sources: ['p'], settings: { revealSeconds: { value: 15, source: 'p' } } },
    ...{ connections: null, files: 'a'.repeat(64), sbom: 'b'.repeat(64) },
    log: { state: 'intact', head: { sequence: 10 + seed, mac: 'c'.repeat(64) } },
    ...over,
  };
  return signDocument(content, keyOf(seed));
}

async function compare(files: Readonly<Record<string, unknown>>, known?: readonly number[]) {
  const at = folder();
  for (const [name, content] of Object.entries(files))
    fs.writeFileSync(path.join(at, name), typeof content === 'string' ? content : JSON.stringify(content));
  const list = path.join(folder(), 'signers.txt');
  fs.writeFileSync(list, (known ?? []).map((seed) => `${keyOf(seed).fingerprint} Desk ${seed}\n`).join(''));
  return compareStatements([at, ...(known === undefined ? [] : [`--known-signers=${list}`])]);
}

const three = { 'a.json': statement(1), 'b.json': statement(2), 'c.json': statement(3) };

test('workstations that are alike are called so, and by whom they are known', async () => {
  const unknown = await compare(three);
  expect([unknown.code, unknown.text]).toEqual([
    3,
    expect.stringContaining('ALIKE, SIGNERS UNKNOWN: 3 workstations'),
  ]);
  const { code, text } = await compare(three, [1, 2, 3]);
  expect([code, text]).toEqual([
    0,
    expect.stringMatching(/ {2}Desk 1, linux x64[^]*\nALIKE: 3 workstations/),
  ]);
  // The kernel is each computer's own, and another system's settings stand elsewhere.
  const mac = statement(4, {
    versions: { ...statement(4).versions, system: 'darwin arm64' },
    policy: { sources: ['q'], settings: {} },
  });
  expect((await compare({ ...three, 'd.json': mac }, [1, 2, 3, 4])).code).toBe(0);
});

test.each<[string, Partial<Omit<Attestation, 'signature'>>, string]>([
  [
    'a setting',
    { policy: { sources: ['p'], settings: { revealSeconds: { value: 60, source: 'p' } } } },
    'Desk 4: policy, revealSeconds: 60 (p); elsewhere 15 (p)',
  ],
  [
    'no policy',
    { policy: { sources: [], settings: {} } },
    'Desk 4: policy, revealSeconds: none; elsewhere 15 (p)',
  ],
  [
    'files',
    { files: 'd'.repeat(64) },
    `Desk 4: packed files: ${'d'.repeat(64)}; elsewhere ${'a'.repeat(64)}`,
  ],
  ['parts', { sbom: null }, 'Desk 4: bill of materials: none; elsewhere'],
  [
    'connections',
    { connections: { sha256: 'e'.repeat(64), issued: null, signer: null } },
    `Desk 4: provided connections: ${'e'.repeat(64)}; elsewhere none`,
  ],
  [
    'a failed check',
    { checks: [{ name: 'fuses', ok: false, detail: 'not as expected: runAsNode' }] },
    'Desk 4: self-check, fuses: not ok: not as expected: runAsNode',
  ],
  [
    'a log',
    { log: { state: 'broken', head: { sequence: 1, mac: 'c'.repeat(64) } } },
    'Desk 4: its audit log is not what was written',
  ],
])('%s that differs is named with the workstation', async (_, over, line) => {
  const { code, text } = await compare({ ...three, 'd.json': statement(4, over) }, [1, 2, 3, 4]);
  expect([code, text]).toEqual([1, expect.stringContaining(`✗ ${line}`)]);
});

test('a statement that was changed, or is a stranger’s, is a finding, and one of no use is said', async () => {
  const changed = await compare({ ...three, 'd.json': { ...statement(4), workstation: 'ws-05' } });
  expect([changed.code, changed.text]).toEqual([
    1,
    expect.stringContaining('✗ d.json: its signature does not hold'),
  ]);
  const stranger = await compare(three, [1, 2]);
  expect([stranger.code, stranger.text]).toEqual([
    1,
    expect.stringContaining(`✗ c.json: it is signed by ${keyOf(3).fingerprint}, who is no known signer`),
  ]);
  for (const [content, reason] of [
    ['{', 'it is not JSON'],
    ['null', 'it is no statement of a workstation'],
    [{ format: 'tokendesk-receipt' }, 'it is no statement of a workstation'],
    [
      signDocument({ ...statement(4), signature: undefined, version: 2 }, keyOf(4)),
      'its version is not known here',
    ],
    [
      signDocument({ format: 'tokendesk-attestation', version: 1 }, keyOf(4)),
      'its member made can’t be read',
    ],
  ] as const) {
    const { code, text } = await compare({ ...three, 'd.json': content }, [1, 2, 3, 4]);
    expect([code, text]).toEqual([2, expect.stringContaining(`? d.json: ${reason}`)]);
  }
  expect(await compare({})).toMatchObject({
    code: 2,
    text: 'COULD NOT BE CHECKED: there is no statement.\n',
  });
  expect(await compareStatements([])).toMatchObject({ code: 2 });
  expect(await compareStatements(['/nowhere/at/all'])).toMatchObject({ code: 2 });
  expect(await compareStatements([folder(), '--json'])).toMatchObject({ code: 2 });
  expect(await compareStatements([folder(), '--known-signers=/nowhere'])).toMatchObject({ code: 2 });
});

test('of one workstation the newest counts, and its log may only have grown', async () => {
  const later = { made: '2026-02-02T00:00:00.000Z' };
  const old = statement(3, { sbom: 'f'.repeat(64), made: '2025-01-01T00:00:00.000Z' });
  expect((await compare({ ...three, 'd.json': old }, [1, 2, 3])).code).toBe(0);
  const shorter = statement(3, {
    ...later,
    log: { state: 'intact', head: { sequence: 2, mac: 'c'.repeat(64) } },
  });
  const { code, text } = await compare({ ...three, 'd.json': shorter }, [1, 2, 3]);
  expect([code, text]).toEqual([
    1,
    expect.stringContaining('✗ Desk 3: its audit log is shorter than on 2026-01-02T00:00:00.000Z'),
  ]);
});

test('no text of a statement looks like a verdict', async () => {
  const forged = statement(1, { workstation: 'ws\nALIKE: 3 workstations' });
  const { text } = await compare({ 'a.json': forged });
  expect(text.split('\n').filter((line) => line.startsWith('ALIKE'))).toEqual([
    expect.stringContaining('ALIKE, SIGNERS UNKNOWN'),
  ]);
});
