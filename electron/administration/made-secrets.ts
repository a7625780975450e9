import type { Audit } from '../audit/audit.ts';
import type { Handlers } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { MadeSecret } from '../contract/models/administration.ts';
import type { ReportedConnection } from '../portal/portal.ts';
import type { AutoClearClipboard } from '../privacy/clipboard.ts';

interface HeldSecret extends MadeSecret {
  readonly value: string;
  readonly expires: string | null;
}

/** Keys and passwords that were made, in memory until they are copied or used: the window gets their names only. */
export interface MadeSecrets {
  hold(secret: Omit<HeldSecret, 'secretId'>): MadeSecret;
  readonly handlers: Pick<Handlers<'administration'>, 'administration.copySecret' | 'administration.useKey'>;
  forget(): void;
}

export interface MadeSecretsOptions {
  readonly active: () => Promise<Outcome<ReportedConnection>>;
  readonly audit: Pick<Audit, 'record'>;
  /** Puts an API key in the place of the connection's own once it has opened a session. */
  readonly useKey: (connectionId: string, key: string, expires: string | null) => Promise<Outcome<null>>;
  /** A connection's definitions, policies or secrets are others now. */
  readonly changed: () => void;
  readonly clipboard: Pick<AutoClearClipboard, 'epoch' | 'write'>;
  readonly newId: () => string;
}

const maxHeld = 10;

export function createMadeSecrets(options: MadeSecretsOptions): MadeSecrets {
  const { audit, clipboard } = options;
  let held: HeldSecret[] = [];

  function find(secretId: string): Outcome<HeldSecret> {
    const secret = held.find((one) => one.secretId === secretId);
    return secret === undefined ? failed('portal.secret-gone') : done(secret);
  }

  return {
    hold(secret) {
      const made = { ...secret, secretId: options.newId() };
      held = [...held, made].slice(-maxHeld);
      return { secretId: made.secretId, kind: made.kind, of: made.of };
    },
    handlers: {
      'administration.copySecret': async ({ secretId }) => {
        const epoch = clipboard.epoch();
        const secret = find(secretId);
        if (!secret.ok) return secret;
        const reported = await options.active();
        if (!reported.ok) return reported;
        const { name, environment } = reported.value.connection;
        const note = `${secret.value.kind} ${secret.value.of}`;
        return audit.record({ action: 'CopySecret', connection: name, environment, note }, () =>
          clipboard.write(secret.value.value, epoch),
        );
      },
      'administration.useKey': async ({ secretId }) => {
        const secret = find(secretId);
        if (!secret.ok) return secret;
        const reported = await options.active();
        if (!reported.ok) return reported;
        const { value, expires } = secret.value;
        const { id } = reported.value.connection;
        const used = await options.useKey(id, value, expires);
        options.changed();
        return used.ok ? done({}) : used;
      },
    },
    forget() {
      held = [];
    },
  };
}
