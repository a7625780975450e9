import type { Audit } from '../audit/audit.ts';
import type { Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Connections } from '../credentials/connections.ts';
import type { CreatedClient } from '../service/create-client.ts';
import type { CreateClient } from './create-client.ts';
import { createWitness } from './witness.ts';

export interface ClientParts {
  readonly connections: Pick<Connections, 'find'>;
  readonly audit: Audit;
  readonly create: CreateClient;
  /** Settles when a connection can be used; the built-in one has to be started first. */
  readonly ready: (connection: Connection) => Promise<Outcome<unknown>>;
  readonly onStatus: () => void;
}

/** The clients of this run, one a connection, made at first use and again when the connection changed. */
export interface Clients {
  for(connectionId: string): Promise<Outcome<CreatedClient>>;
  /** The one there is already, for its status. */
  open(connectionId: string): Promise<CreatedClient | null>;
  /** The machine slept: what was under way is tried again on new sockets. */
  wake(): Promise<void>;
  /** After a change of the connection or its secrets. */
  drop(connectionId: string): Promise<void>;
  close(): Promise<void>;
}

export function createClients({ connections, audit, create, ready, onStatus }: ClientParts): Clients {
  const open = new Map<string, Promise<Outcome<CreatedClient>>>();

  async function there(connectionId: string): Promise<CreatedClient | null> {
    const client = await open.get(connectionId);
    return client?.ok === true ? client.value : null;
  }

  async function drop(connectionId: string): Promise<void> {
    const client = await there(connectionId);
    open.delete(connectionId);
    await client?.close();
  }

  async function make(connection: Connection): Promise<Outcome<CreatedClient>> {
    const client = await create(connection, createWitness(audit, connection));
    if (client.ok) client.value.onStatus(onStatus);
    else open.delete(connection.id);
    return client;
  }

  return {
    async for(connectionId) {
      const known = connections.find(connectionId);
      if (!known.ok) return known;
      const usable = await ready(known.value);
      if (!usable.ok) return usable;
      const already = open.get(connectionId);
      if (already) return already;
      // Found again: becoming ready may have changed its address.
      const connection = connections.find(connectionId);
      if (!connection.ok) return connection;
      const made = make(connection.value);
      open.set(connectionId, made);
      return made;
    },
    open: there,
    async wake() {
      for (const connectionId of open.keys()) (await there(connectionId))?.wake();
    },
    drop,
    async close() {
      await Promise.all([...open.keys()].map(drop));
    },
  };
}
