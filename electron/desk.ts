import { calls, type CallName } from './contract/calls.ts';
import { failed } from './contract/errors.ts';
import { createDoor, type Handlers } from './ipc/handle.ts';
import type { Shell } from './shell/shell.ts';

export interface ConfLike {
  readonly store: Record<string, unknown>;
  set(members: Record<string, unknown>): void;
}

export interface KeytarLike {
  getPassword(service: string, account: string): Promise<string | null>;
  setPassword(service: string, account: string, password: string): Promise<void>;
  deletePassword(service: string, account: string): Promise<boolean>;
}

export interface DeskParts {
  readonly openStore: (name: string) => ConfLike;
  readonly loadKeytar: () => Promise<KeytarLike>;
  readonly sandboxWorker: URL;
  readonly origin: string;
}

export interface Desk {
  close(): Promise<void>;
}

/** Placeholder: every call is refused as unfinished. */
export async function openDesk(shell: Shell, parts: DeskParts): Promise<Desk> {
  const names = Object.keys(calls) as CallName[];
  const handlers = Object.fromEntries(
    names.map((name) => [name, () => Promise.resolve(failed('call.failed'))]),
  );
  shell.serve(
    createDoor({
      handlers: handlers as unknown as Handlers,
      origin: parts.origin,
      locked: () => false,
      onBug: () => undefined,
    }),
  );
  await Promise.resolve();
  return { close: () => Promise.resolve() };
}
