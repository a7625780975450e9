import { uncoverText } from '../contract/covered.ts';
import type { Audit } from '../audit/audit.ts';
import type { CallInput, CallOutput } from '../contract/calls.ts';
import { done, failed, type Failure, type Outcome } from '../contract/errors.ts';
import type { Connections } from '../credentials/connections.ts';
import type { Handlers } from '../ipc/handle.ts';
import type { Shell } from '../shell/shell.ts';
import type { BuiltIn } from './built-in.ts';
import type { Clients } from './clients.ts';
import { readCertificateFile } from './read-certificate-file.ts';

export interface ConnectionHandlerParts {
  readonly shell: Pick<Shell, 'chooseFile'>;
  readonly connections: Connections;
  readonly clients: Clients;
  readonly builtIn: BuiltIn;
  readonly audit: Pick<Audit, 'begin'>;
  readonly changed: () => void;
}

type ConnectionHandlers = Pick<Handlers, Extract<keyof Handlers, `connections.${string}`>>;

/** The `connections.*` calls. Changes to who is asked, and with what, are acts of their own in the audit log. */
export function connectionHandlers(parts: ConnectionHandlerParts): ConnectionHandlers {
  const { shell, connections, clients, builtIn, audit, changed } = parts;

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
      nothing(act('StoreSecret', id, () => connections.storeSecret(id, secret, uncoverText(value)))),
    'connections.forgetSecret': ({ id, secret }) =>
      nothing(act('ForgetSecret', id, () => connections.forgetSecret(id, secret))),
    'connections.chooseCertificate': async ({ id, passphrase }) => {
      const known = connections.find(id);
      if (!known.ok) return known;
      if (known.value.builtIn) return failed('connection.built-in');
      const file = await shell.chooseFile('certificate');
      if (file === null) return done(null);
      return act('StoreCertificate', id, async () => {
        const pfx = await readCertificateFile(file);
        return pfx.ok ? connections.storeCertificate(id, pfx.value, uncoverText(passphrase)) : pfx;
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
