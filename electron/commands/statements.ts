import path from 'node:path';
import type { Statements } from '../app/statements.ts';
import type { WorkstationFacts } from '../contract/models/attestation.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { readChosenFile } from '../storage/read-small-file.ts';
import { fingerprintOf } from '../storage/signed-document.ts';
import type { AttestArguments, SignArguments } from './arguments.ts';
import { unlocked, valueOf, type Asked, type Words } from './asked.ts';
import { endOf, exitCodes, type ExitCode } from './ends.ts';

/* What an administrator has this workstation sign: a file of connections for others, and a statement on itself. */

interface Asking {
  readonly app: Asked;
  readonly words: Words;
  readonly passphrase: string | null;
  readonly statements: Statements;
  /** Takes what is asked for. */
  readonly write: (text: string) => void;
  /** Takes what a person is told beside it. */
  readonly tell: (sentence: string) => void;
}

const maxBytes = 4 * 1024 * 1024;

/** `tokendesk --sign-connections FILE`: writes it signed beside it, or to `out`. */
export async function signConnectionsFile({ file, out }: SignArguments, asking: Asking): Promise<ExitCode> {
  const { app, words, passphrase, statements, write } = asking;
  await unlocked(valueOf(app, words), passphrase);
  const bytes = await readChosenFile(file, { maxBytes, unfit: 'import.invalid' });
  const signed = bytes.ok ? await statements.signConnections(bytes.value) : bytes;
  if (!signed.ok) throw endOf(signed.failure, words.failure);
  const { dir, name } = path.parse(file);
  const target = out ?? path.join(dir, `${name.replace(/\.signed$/, '')}.signed.json`);
  await save(target, signed.value, words);
  const publicKey = signed.value.signature?.publicKey ?? '';
  write(
    `Signed: ${target}\nIssued: ${signed.value.issued ?? ''}\nconnectionsSigners: ${fingerprintOf(Buffer.from(publicKey, 'base64'))}\n`,
  );
  return exitCodes.done;
}

const keychainFailures = {
  unavailable: 'keychain.unavailable',
  locked: 'keychain.locked',
  stalled: 'keychain.stalled',
} as const;

/** `tokendesk --attest`: prints the statement, or writes it to `out`. */
export async function attest(
  { out }: AttestArguments,
  { facts, ...asking }: Asking & { readonly facts: () => Promise<WorkstationFacts> },
): Promise<ExitCode> {
  const { app, words, passphrase, statements, write, tell } = asking;
  const value = valueOf(app, words);
  await unlocked(value, passphrase);
  const made = await statements.attest(await facts());
  if (!made.ok) {
    const { keychain } = await unlocked(value, passphrase);
    // Without one the log can't be written either, which would be said as if the disk were full.
    const code = keychain === 'ready' ? null : keychainFailures[keychain];
    throw endOf(code === null ? made.failure : { code }, words.failure);
  }
  if (out === null) write(textOf(made.value));
  else await save(out, made.value, words);
  tell(`Signed by ${fingerprintOf(Buffer.from(made.value.signature.publicKey, 'base64'))}.`);
  return exitCodes.done;
}

const textOf = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;

async function save(target: string, document: object, words: Words): Promise<void> {
  const saved = await writeFileAtomically(target, textOf(document));
  if (!saved.ok) throw endOf(saved.failure, words.failure);
}
