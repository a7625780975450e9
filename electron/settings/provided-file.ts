import path from 'node:path';
import { done, failed, type Failure, type Outcome } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
import type { Deployment } from '../contract/models/deployment.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { readSmallFile, type SmallFile } from '../storage/read-small-file.ts';
import { signDocument, signerOf, type Signature, type SigningKey } from '../storage/signed-document.ts';
import type { Clock } from '../util/clock.ts';
import { checkDeployment, parseDeployment, readJson } from './parse-deployment.ts';
import { maxProvidedBytes } from './trusted-file.ts';

/*
 * The connections that an administrator provides for many workstations: one signed file on a share. Whoever can write there
 * can't change what is taken, nor bring back an older file.
 */

/** In a person's folder: the file as it was taken last, which is in force while the share is away. */
const copyName = 'provided-connections.json';
/** A share that does not answer must not keep the window from opening. */
const defaultLimitMs = 2_000;
const checkLimitMs = 20_000;

export interface SignedConnections {
  readonly deployment: Deployment;
  readonly issued: string;
  /** Fingerprint of the key. */
  readonly signer: string;
}

/** What is in force of the administrator's, and why the file was not taken where it was not. */
export interface Provided {
  readonly deployment: Deployment | null;
  readonly failure: Failure | null;
  /** Of the file that is in force, where it was taken just now. */
  readonly taken: Pick<SignedConnections, 'issued' | 'signer'> | null;
}

export interface ProvidedFileOptions {
  readonly file: string;
  readonly signers: readonly string[];
  /** The person's folder. */
  readonly home: string;
  readonly clock: Pick<Clock, 'after'>;
  readonly limitMs?: number | undefined;
}

/** Failures: provided.unsigned, provided.signer, provided.invalid. The signature is looked at before anything else. */
export function readSigned(bytes: Uint8Array, signers: readonly string[]): Outcome<SignedConnections> {
  const read = readJson(bytes);
  if (read === null) return failed('provided.invalid', { subject: 'it is not JSON' });
  const signer = signerOf(read.value);
  if (signer === null) return failed('provided.unsigned');
  if (!signers.includes(signer)) return failed('provided.signer', { subject: signer });
  const checked = checkDeployment(read.value);
  if (!checked.ok) return failed('provided.invalid', { subject: checked.failure.subject ?? '' });
  const { issued } = checked.value;
  if (issued === undefined) return failed('provided.invalid', { subject: 'issued' });
  return done({ deployment: checked.value, issued, signer });
}

/** A file of connections with the time and a signature, for the administrator's place. Failure: import.invalid. */
export function signConnections(
  bytes: Uint8Array,
  { key, now }: { readonly key: SigningKey; readonly now: Date },
): Outcome<Deployment & { readonly signature: Signature }> {
  const given = parseDeployment(bytes);
  if (!given.ok) return given;
  const { issued: _issued, signature: _signature, ...rest } = given.value;
  return done(signDocument({ ...rest, issued: now.toISOString() }, key));
}

const nameOf = (file: string): string => path.win32.basename(file);

/** What a person is told names no folder. */
const unreachable = (file: string, reason: string) =>
  failed('provided.unreachable', { subject: `${nameOf(file)}: ${reason}`.slice(0, 300) });

/** Null where it does not answer in time. */
async function withinTime<T>(answer: Promise<T>, clock: Pick<Clock, 'after'>, ms: number): Promise<T | null> {
  let cancel = (): void => undefined;
  const late = new Promise<null>((settle) => {
    cancel = clock.after(ms, () => {
      settle(null);
    });
  });
  const first = await Promise.race([answer, late]);
  cancel();
  return first;
}

function bytesOf(file: string, found: SmallFile | null): Outcome<Buffer> {
  if (found === null) return unreachable(file, 'it does not answer');
  if (found.kind === 'read') return done(found.bytes);
  return unreachable(file, found.kind === 'missing' ? 'there is no such file' : found.reason);
}

/** Looks at the file where it lies, and takes nothing: for checks of an administrator. */
export async function checkProvidedFile(
  { file, signers }: Pick<ProvidedFileOptions, 'file' | 'signers'>,
  clock: Pick<Clock, 'after'>,
): Promise<Outcome<SignedConnections>> {
  const reading = readSmallFile(file, { maxBytes: maxProvidedBytes });
  const bytes = bytesOf(file, await withinTime(reading, clock, checkLimitMs));
  return bytes.ok ? readSigned(bytes.value, signers) : bytes;
}

/**
 * Reads the file each time it is asked, and takes one that is signed by one of the signers and not older than the one taken
 * last, which is kept in the person's folder. What is not taken leaves that one in force. Never rejects.
 */
export function createProvidedFile(options: ProvidedFileOptions): { readonly read: () => Promise<Provided> } {
  const { file, signers, home, clock, limitMs = defaultLimitMs } = options;
  const copy = path.join(home, copyName);
  /** One at a time: a share that never answers holds a thread for each. What comes too late is the next call's answer. */
  let reading: ReturnType<typeof readSmallFile> | null = null;

  async function takenLast(): Promise<SignedConnections | null> {
    const kept = await readSmallFile(copy, { maxBytes: maxProvidedBytes, links: 'refused' });
    const read = kept.kind === 'read' ? readSigned(kept.bytes, signers) : null;
    return read?.ok === true ? read.value : null;
  }

  async function readNow(): Promise<Outcome<Buffer>> {
    reading ??= readSmallFile(file, { maxBytes: maxProvidedBytes });
    const found = await withinTime(reading, clock, limitMs);
    if (found !== null) reading = null;
    return bytesOf(file, found);
  }

  return {
    async read() {
      const last = await takenLast();
      const stays = (failure: Failure | null): Provided => ({
        deployment: last?.deployment ?? null,
        failure,
        taken: null,
      });
      const found = await readNow();
      if (!found.ok) return stays(found.failure);
      const signed = readSigned(found.value, signers);
      if (!signed.ok) return stays(signed.failure);
      const { deployment, issued, signer } = signed.value;
      if (last !== null && Date.parse(issued) < Date.parse(last.issued)) {
        const subject = `issued ${issued}, not after ${last.issued}`;
        return stays(failed('provided.older', { subject }).failure);
      }
      if (last?.issued === issued && last.signer === signer) return stays(null);
      // First that it was taken: one that could not be remembered could be replaced by an older one.
      const saved = await writeFileAtomically(copy, found.value);
      if (!saved.ok) return stays(saved.failure);
      return { deployment, failure: null, taken: { issued, signer } };
    },
  };
}

/** Where a policy names one. */
export function providedFileOf({
  connectionsFile: file,
  connectionsSigners: signers,
}: ManagedSettings): Pick<ProvidedFileOptions, 'file' | 'signers'> | null {
  return file === undefined || signers === undefined ? null : { file, signers };
}
