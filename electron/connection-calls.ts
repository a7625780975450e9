import fs from 'node:fs/promises';
import path from 'node:path';
import type { Audit } from './audit/audit.ts';
import type { BuiltIn } from './built-in-connection.ts';
import type { Clients } from './clients.ts';
import type { CallInput, CallOutput, Handlers } from './contract/calls.ts';
import { done, failed, type Failure, type Outcome } from './contract/errors.ts';
import { restoreText } from './contract/obscured.ts';
import type { Connections } from './credentials/connections.ts';
import type { Platform } from './platform/platform.ts';

export interface ConnectionHandlerParts {
  readonly platform: Pick<Platform, 'chooseFile'>;
  readonly connections: Connections;
  readonly clients: Clients;
  readonly builtIn: BuiltIn;
  readonly audit: Pick<Audit, 'begin'>;
  readonly changed: () => void;
}

/** The `connections.*` calls. Changes to who is asked, and with what, are acts of their own in the audit log. */
export function connectionHandlers(parts: ConnectionHandlerParts): Handlers<'connections'> {
  const { platform, connections, clients, builtIn, audit, changed } = parts;

  /** Writes the act down, does it, has the next call use a client made anew. */
  async function act<T>(
    action: string,
    id: string | null,
    run: () => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const known = id === null ? null : connections.find(id);
    const begun = await audit.begin({
      action,
      ...(known?.ok === true && { connection: known.value.name, environment: known.value.environment }),
    });
    if (!begun.ok) return begun;
    const outcome = await run();
    begun.value(outcome.ok ? { ok: true } : { ok: false, code: outcome.failure.code });
    if (id !== null) await clients.drop(id);
    changed();
    return outcome;
  }

  const nothing = async (outcome: Promise<Outcome<unknown>>): Promise<Outcome<Record<string, never>>> => {
    const answer = await outcome;
    return answer.ok ? done({}) : answer;
  };

  return {
    'connections.save': (draft) => act('SaveConnection', draft.id, () => connections.save(draft)),
    'connections.remove': ({ id }) => nothing(act('RemoveConnection', id, () => connections.remove(id))),
    'connections.choose': async ({ id, policy }) => {
      const chosen = connections.choose(id, policy);
      changed();
      return nothing(Promise.resolve(chosen));
    },
    'connections.storeSecret': ({ id, secret, value }) =>
      nothing(act('StoreSecret', id, () => connections.storeSecret(id, secret, restoreText(value)))),
    'connections.forgetSecret': ({ id, secret }) =>
      nothing(act('ForgetSecret', id, () => connections.forgetSecret(id, secret))),
    'connections.chooseCertificate': async ({ id, passphrase }) => {
      const known = connections.find(id);
      if (!known.ok) return known;
      if (known.value.builtIn) return failed('connection.built-in');
      const file = await platform.chooseFile('certificate');
      if (file === null) return done(null);
      return act('StoreCertificate', id, async () => {
        const pfx = await readCertificateFile(file);
        return pfx.ok ? connections.storeCertificate(id, pfx.value, restoreText(passphrase)) : pfx;
      });
    },
    'connections.forgetCertificate': ({ id }) =>
      nothing(act('ForgetCertificate', id, () => connections.forgetCertificate(id))),
    'connections.check': async (input) => check(clients, input),
    'connections.startBuiltIn': async () => {
      const started = await builtIn.start();
      if (!started.ok) return started;
      const connection = connections.find(started.value.id);
      if (!connection.ok) return connection;
      const [policy] = connection.value.policies;
      if (policy !== undefined) {
        const chosen = connections.choose(started.value.id, policy);
        if (!chosen.ok) return chosen;
      }
      changed();
      return started;
    },
  };
}

type Steps = CallOutput<'connections.check'>['steps'];

/** A harmless round trip: a session, and the mask of a token the person gave. It stops where something did not fit. */
async function check(
  clients: Clients,
  { id, policy, definition, token }: CallInput<'connections.check'>,
): Promise<Outcome<CallOutput<'connections.check'>>> {
  const client = await clients.for(id);
  if (!client.ok) return client;
  const fitted = (step: Steps[number]['step']): Steps[number] => ({ step, ok: true, failure: null });
  const broke = (step: Steps[number]['step'], failure: Failure): Steps[number] => ({
    step,
    ok: false,
    failure,
  });

  const session = await client.value.openSession(policy);
  if (!session.ok) {
    const { failure } = session;
    // An answer with a status or a request ID came from something that was reached.
    const reached = failure.requestId !== undefined || failure.status !== undefined;
    if (reached) return done({ steps: [fitted('reach'), broke('session', failure)] });
    // A secret that is missing says nothing of the service: it was not asked.
    return done({ steps: [broke(failure.code.startsWith('service.') ? 'reach' : 'session', failure)] });
  }
  const steps = [fitted('reach'), fitted('session')];
  if (definition === null || token === null) return done({ steps });
  const masked = await client.value.getMasked(policy, definition, token, { rows: 1 });
  return done({ steps: [...steps, masked.ok ? fitted('mask') : broke('mask', masked.failure)] });
}

/** A PKCS #12 file has a few kilobytes; what is larger is something else. */
const mostBytes = 1024 * 1024;

/** The bytes of a file a person chose. Failures: file.unreadable, certificate.invalid (over 1 MiB, or no file). */
export async function readCertificateFile(file: string): Promise<Outcome<Buffer>> {
  const subject = path.basename(file).slice(0, 300);
  try {
    // Looked at before it is opened: a named pipe would never answer.
    const found = await fs.stat(file);
    if (!found.isFile() || found.size > mostBytes) return failed('certificate.invalid', { subject });
    const handle = await fs.open(file, 'r');
    try {
      const bytes = Buffer.alloc(mostBytes + 1);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      if (bytesRead > mostBytes) return failed('certificate.invalid', { subject });
      return done(bytes.subarray(0, bytesRead));
    } finally {
      await handle.close();
    }
  } catch {
    return failed('file.unreadable', { subject });
  }
}
