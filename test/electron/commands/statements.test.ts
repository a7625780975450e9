import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { End } from '../../../electron/commands/ends.ts';
import { attest, signConnectionsFile } from '../../../electron/commands/statements.ts';
import { failed } from '../../../electron/contract/errors.ts';
import { attestation, type WorkstationFacts } from '../../../electron/contract/models/attestation.ts';
import { readSigned } from '../../../electron/settings/provided-file.ts';
import { signerOf } from '../../../electron/storage/signed-document.ts';
import { sentenceFor } from '../../../src/messages/messages.ts';
import { formatNotice } from '../../../src/messages/notices.ts';
import { valueOf } from '../../support/batch-app.ts';
import { openCommand, type Command } from '../../support/command-app.ts';
import { obscuredOf } from '../../support/obscured-text.ts';

let command: Command;
beforeAll(async () => {
  command = await openCommand();
});
afterAll(() => command.close());

const facts: WorkstationFacts = {
  workstation: 'ws-01',
  versions: { application: '1', electron: '', chromium: '', node: '', system: 'linux x64', release: '6' },
  checks: [{ name: 'fuses', ok: true, detail: 'as they were set at packaging' }],
  policy: { sources: [], settings: { revealSeconds: { value: 10, source: 'policy.json' } } },
  files: null,
  sbom: null,
};

/** What a command writes, and where it ends. */
async function ended(act: (asking: Parameters<typeof signConnectionsFile>[1]) => Promise<number>) {
  let written = '';
  let told = '';
  const code = await act({
    app: command.app,
    words: { failure: sentenceFor, notice: formatNotice },
    passphrase: null,
    statements: command.whole.statements,
    write: (text) => (written += text),
    tell: (sentence) => (told += sentence),
  }).catch((error: unknown) => {
    if (!(error instanceof End)) throw error;
    told = error.message;
    return error.exitCode;
  });
  return { code, written, told };
}

test('without a keychain a statement says so, and not that the disk is full', async () => {
  const without = await openCommand({
    options: { loadKeytar: () => Promise.reject(new Error('no bus')) },
  });
  try {
    const { code, told } = await ended((asking) =>
      attest(
        { out: null },
        {
          ...asking,
          app: without.app,
          statements: { ...asking.statements, attest: () => Promise.resolve(failed('audit.unwritable')) },
          facts: () => Promise.resolve(facts),
        },
      ),
    );
    expect([code, told]).toEqual([6, expect.stringContaining('No keychain answers this command')]);
  } finally {
    await without.close();
  }
});

test('a file of connections is signed beside it, by the key that the command names', async () => {
  const file = path.join(command.folder, 'connections.json');
  const content = { format: 'tokendesk-connections', version: 1, connections: [], mappings: [] };
  fs.writeFileSync(file, JSON.stringify({ $schema: 'connections.schema.json', ...content }));
  const { code, written } = await ended((asking) => signConnectionsFile({ file, out: null }, asking));
  const target = path.join(command.folder, 'connections.signed.json');
  const [, signer = ''] = /^connectionsSigners: ([0-9a-f]{64})$/m.exec(written) ?? [];
  expect([code, written]).toEqual([0, expect.stringContaining(`Signed: ${target}\n`)]);
  expect(readSigned(fs.readFileSync(target), [signer])).toMatchObject({
    ok: true,
    value: { deployment: content },
  });
  // The same key as in the statements of this workstation.
  const statement = await ended((asking) =>
    attest({ out: null }, { ...asking, facts: () => Promise.resolve(facts) }),
  );
  expect(signerOf(JSON.parse(statement.written))).toBe(signer);

  fs.writeFileSync(file, JSON.stringify({ ...content, apiKey: 'canary' }));
  const refused = await ended((asking) => signConnectionsFile({ file, out: null }, asking));
  expect([refused.code, refused.told]).toEqual([6, expect.stringContaining('apiKey')]);
  const none = await ended((asking) => signConnectionsFile({ file: `${file}.not`, out: null }, asking));
  expect(none.code).toBe(6);
});

test('a statement has what was found, and the end of the log with its own line in it', async () => {
  const out = path.join(command.folder, 'ws-01.json');
  const made = await ended((asking) => attest({ out }, { ...asking, facts: () => Promise.resolve(facts) }));
  expect([made.code, made.written]).toEqual([0, '']);
  const said = attestation.parse(JSON.parse(fs.readFileSync(out, 'utf8')));
  expect(said).toMatchObject({ ...facts, connections: null, log: { state: 'intact' } });
  expect(made.told).toBe(`Signed by ${signerOf(said)}.`);
  const lines = fs
    .readFileSync(path.join(command.whole.home, 'audit/audit-000001.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { action: string; phase: string; sequence: number; mac: string });
  const line = lines.findLast(({ action, phase }) => action === 'Attest' && phase === 'begun');
  expect(said.log.head).toEqual({ sequence: line?.sequence, mac: line?.mac });
  // A locked app signs nothing.
  const passphrase = 'a long passphrase';
  const set = { current: { xorKey: 'abcd', obscured: '' }, next: obscuredOf(passphrase) };
  valueOf(await command.app.ask('lock.setPassphrase', set));
  valueOf(await command.app.ask('lock.now', {}));
  const locked = await ended((asking) => attest({ out }, { ...asking, facts: () => Promise.resolve(facts) }));
  expect([locked.code, locked.told]).toEqual([5, expect.stringContaining('locked with a passphrase')]);
});
