import type { Audit } from '../audit/audit.ts';
import { done, type Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Connections } from '../credentials/connections.ts';
import type { ServiceClient, Witness } from '../service/client.ts';
import { createWitness } from './witness.ts';

export interface ClientParts {
  readonly connections: Pick<Connections, 'find'>;
  readonly audit: Audit;
  readonly create: (connection: Connection, witness: Witness) => Promise<ServiceClient>;
  /** Settles when a connection can be used; the built-in one has to be started first. */
  readonly ready: (connection: Connection) => Promise<Outcome<null>>;
  readonly onStatus: () => void;
}

/** The clients of this run, one a connection, made at first use and again when the connection changed. */
export interface Clients {
  for(connectionId: string): Promise<Outcome<ServiceClient>>;
  /** The one there is already, for its status. */
  open(connectionId: string): Promise<ServiceClient | null>;
  /** After a change of the connection or its secrets. */
  drop(connectionId: string): Promise<void>;
  close(): Promise<void>;
}

export function createClients({ connections, audit, create, ready, onStatus }: ClientParts): Clients {
  const open = new Map<string, Promise<ServiceClient>>();

  async function drop(connectionId: string): Promise<void> {
    const client = open.get(connectionId);
    open.delete(connectionId);
    await (await client)?.close();
  }

  async function make(connection: Connection): Promise<ServiceClient> {
    const client = await create(connection, createWitness(audit, connection));
    client.onStatus(onStatus);
    return client;
  }

  return {
    async for(connectionId) {
      const known = connections.find(connectionId);
      if (!known.ok) return known;
      const usable = await ready(known.value);
      if (!usable.ok) return usable;
      const there = open.get(connectionId);
      if (there) return done(await there);
      // Found again: becoming ready may have changed its address.
      const connection = connections.find(connectionId);
      if (!connection.ok) return connection;
      const made = make(connection.value);
      open.set(connectionId, made);
      made.catch(() => open.delete(connectionId));
      return done(await made);
    },
    open: async (connectionId) => (await open.get(connectionId)) ?? null,
    drop,
    async close() {
      await Promise.all([...open.keys()].map(drop));
    },
  };
}
