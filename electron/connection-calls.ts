import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Audit, AuditIntent } from './audit/audit.ts';
import { describeChanges } from './audit/changes.ts';
import type { BuiltInConnection } from './built-in-connection.ts';
import type { Clients } from './clients.ts';
import type { CallInput, CallOutput, Handlers } from './contract/calls.ts';
import { done, failed, type Failure, type Outcome } from './contract/errors.ts';
import { restoreText } from './contract/obscured.ts';
import type { DeploymentCalls } from './deployment.ts';
import type { Connections } from './credentials/connections.ts';
import type { Platform } from './platform/platform.ts';
import { nonBlocking } from './storage/byte-source.ts';

interface ConnectionHandlerOptions {
  readonly platform: Pick<Platform, 'chooseFile'>;
  readonly connections: Connections;
  readonly clients: Pick<Clients, 'for' | 'drop'>;
  readonly builtIn: Pick<BuiltInConnection, 'start'>;
  readonly audit: Pick<Audit, 'begin'>;
  readonly changed: () => void;
}

/** The `connections.*` calls. Changes of a connection, its secrets or its certificate are recorded in the audit log. */
export function createConnectionHandlers({
  platform,
  connections,
  clients,
  builtIn,
  audit,
  changed,
}: ConnectionHandlerOptions): Omit<Handlers<'connections'>, keyof DeploymentCalls> {
  /** Records the change, makes it, and drops the connection's client, so that the next call uses a new one. */
  async function change<T>(
    action: string,
    id: string | null,
    run: () => Promise<Outcome<T>>,
    details: Partial<AuditIntent> = {},
  ): Promise<Outcome<T>> {
    const connection = id === null ? null : connections.find(id);
    const begun = await audit.begin({
      action,
      ...(connection?.ok === true && {
        connection: connection.value.name,
        environment: connection.value.environment,
      }),
      ...details,
    });
    if (!begun.ok) return begun;
    const outcome = await run();
    begun.value(outcome.ok ? { ok: true } : { ok: false, code: outcome.failure.code });
    if (id !== null) await clients.drop(id);
    changed();
    return outcome;
  }

  /** The client stays: nothing of the connection changes. */
  async function choose(action: string, id: string, policy: string): Promise<Outcome<null>> {
    const connection = connections.find(id);
    if (!connection.ok) return connection;
    const { name, environment } = connection.value;
    const begun = await audit.begin({ action, connection: name, environment, policy });
    if (!begun.ok) return begun;
    const chosen = connections.choose(id, policy);
    begun.value(chosen.ok ? { ok: true } : { ok: false, code: chosen.failure.code });
    changed();
    return chosen;
  }

  const withoutValue = async (
    outcome: Promise<Outcome<unknown>>,
  ): Promise<Outcome<Record<string, never>>> => {
    const answer = await outcome;
    return answer.ok ? done({}) : answer;
  };

  return {
    'connections.save': (draft) => {
      const { id, ...next } = draft;
      const known = id === null ? null : connections.find(id);
      const before = known?.ok === true ? known.value : null;
      return change('SaveConnection', id, () => connections.save(draft), {
        ...(before === null && { connection: next.name, environment: next.environment }),
        note: describeChanges<typeof next>(before, next),
      });
    },
    'connections.remove': ({ id }) =>
      withoutValue(change('RemoveConnection', id, () => connections.remove(id))),
    'connections.choose': ({ id, policy }) => withoutValue(choose('ChooseConnection', id, policy)),
    'connections.storeSecret': ({ id, secret, value }) =>
      withoutValue(change('StoreSecret', id, () => connections.storeSecret(id, secret, restoreText(value)))),
    'connections.chooseCertificate': async ({ id, passphrase }) => {
      const connection = connections.find(id);
      if (!connection.ok) return connection;
      if (connection.value.builtIn) return failed('connection.built-in');
      const file = await platform.chooseFile('certificate');
      if (file === null) return done(null);
      return change('StoreCertificate', id, async () => {
        const pfx = await readCertificateFile(file);
        return pfx.ok ? connections.storeCertificate(id, pfx.value, restoreText(passphrase)) : pfx;
      });
    },
    'connections.forgetCertificate': ({ id }) =>
      withoutValue(change('ForgetCertificate', id, () => connections.forgetCertificate(id))),
    'connections.check': async (input) => check(clients, input),
    'connections.startBuiltIn': async () => {
      const started = await builtIn.start();
      if (!started.ok) return started;
      const { id, policy } = started.value;
      const chosen = await choose('StartBuiltIn', id, policy);
      return chosen.ok ? done({ id }) : chosen;
    },
  };
}

type Steps = CallOutput<'connections.check'>['steps'];

/** A session, and the mask of a token that the person gave. Stops at the first step that fails. */
async function check(
  clients: Pick<Clients, 'for'>,
  { id, policy, definition, token }: CallInput<'connections.check'>,
): Promise<Outcome<CallOutput<'connections.check'>>> {
  const client = await clients.for(id);
  if (!client.ok) return client;
  const passedStep = (step: Steps[number]['step']): Steps[number] => ({ step, ok: true, failure: null });
  const failedStep = (step: Steps[number]['step'], failure: Failure): Steps[number] => ({
    step,
    ok: false,
    failure,
  });

  const session = await client.value.openSession(policy);
  if (!session.ok) {
    const { failure } = session;
    // An answer with a status or a request ID means that the service was reached.
    const reached = failure.requestId !== undefined || failure.status !== undefined;
    if (reached) return done({ steps: [passedStep('reach'), failedStep('session', failure)] });
    // A missing secret says nothing about the service: no request was sent.
    return done({ steps: [failedStep(failure.code.startsWith('service.') ? 'reach' : 'session', failure)] });
  }
  const steps = [passedStep('reach'), passedStep('session')];
  if (definition === null || token === null) return done({ steps });
  const masked = await client.value.getMasked(policy, definition, token, { rows: 1 });
  return done({ steps: [...steps, masked.ok ? passedStep('mask') : failedStep('mask', masked.failure)] });
}

/** A PKCS #12 file has a few kilobytes. */
const maxCertificateBytes = 1024 * 1024;

/** The bytes of a file a person chose. Failures: file.unreadable, certificate.invalid (over 1 MiB, or no file). */
async function readCertificateFile(file: string): Promise<Outcome<Buffer>> {
  const subject = path.basename(file).slice(0, 300);
  try {
    // A named pipe would never answer; what is checked is what was opened.
    const handle = await fs.open(file, constants.O_RDONLY | nonBlocking);
    try {
      const stat = await handle.stat();
      if (!stat.isFile() || stat.size > maxCertificateBytes)
        return failed('certificate.invalid', { subject });
      const bytes = Buffer.alloc(maxCertificateBytes + 1);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      if (bytesRead > maxCertificateBytes) return failed('certificate.invalid', { subject });
      return done(bytes.subarray(0, bytesRead));
    } finally {
      await handle.close();
    }
  } catch {
    return failed('file.unreadable', { subject });
  }
}
