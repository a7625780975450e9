import type { Audit } from '../audit/audit.ts';
import type { DeskState, LockState } from '../contract/models/desk.ts';
import type { Settings } from '../contract/models/settings.ts';
import type { Connections } from '../credentials/connections.ts';
import type { Keychain } from '../credentials/keychain.ts';
import type { Shell } from '../shell/shell.ts';
import type { Clients } from './clients.ts';

export interface StateParts {
  readonly shell: Pick<Shell, 'host' | 'version' | 'send'>;
  readonly connections: Connections;
  readonly keychain: Keychain;
  readonly audit: Pick<Audit, 'state'>;
  readonly clients: () => Clients;
  readonly lock: () => LockState;
  readonly settings: () => Settings;
}

/** Changes that come close together reach the window as one. */
const gatherMs = 100;

/** What the frame around the pages shows, put together from the rooms. */
export interface CurrentState {
  read(): Promise<DeskState>;
  /** Something in it changed: the window is told soon. */
  changed(): void;
  close(): void;
}

export function createState(parts: StateParts): CurrentState {
  const { shell, connections, keychain, audit, clients, lock, settings } = parts;
  let timer: NodeJS.Timeout | undefined;

  async function read(): Promise<DeskState> {
    const active = connections.active();
    const client = active === null ? null : await clients().open(active.connectionId);
    return {
      version: shell.version,
      host: shell.host,
      connections: connections.views(),
      active,
      service: active !== null && client !== null ? client.status(active.policy) : null,
      keychain: keychain.state(),
      audit: audit.state(),
      lock: lock(),
      settings: settings(),
    };
  }

  return {
    read,
    changed() {
      timer ??= setTimeout(() => {
        timer = undefined;
        void read().then((state) => shell.send('desk.state', state));
      }, gatherMs);
    },
    close() {
      clearTimeout(timer);
    },
  };
}
