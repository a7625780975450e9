import type { Bridge } from '../../electron/contract/bridge.ts';
import type {
  CallInput,
  CallName,
  CallOutput,
  FileCall,
  FilesCall,
  EventName,
  EventPayload,
} from '../../electron/contract/calls.ts';
import type { Outcome } from '../../electron/contract/errors.ts';

declare global {
  interface Window {
    readonly tokendesk?: Bridge;
  }
}

type PlainCall = Exclude<CallName, FileCall | FilesCall>;

export interface Api {
  /** Never rejects: an exception of the bridge becomes the failure `call.failed`. */
  call<N extends PlainCall>(name: N, input: CallInput<N>): Promise<Outcome<CallOutput<N>>>;
  /** Hands over a dropped file; only main gets its path. */
  drop(file: File): Promise<Outcome<CallOutput<'batch.drop'>>>;
  dropFiles(files: readonly File[]): Promise<Outcome<CallOutput<'batch.dropFiles'>>>;
  dropForInventory(files: readonly File[]): Promise<Outcome<CallOutput<'inventory.drop'>>>;
  dropApproval(file: File): Promise<Outcome<CallOutput<'approval.drop'>>>;
  /** Returns the function that stops listening. */
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): () => void;
}

/** Copies the proxies of reactive state, which can't cross the bridge. Strings are not copied, so no secret is. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

export function openApi(bridge: Bridge): Api {
  const guarded = async <T>(operation: string, run: () => Promise<Outcome<T>>): Promise<Outcome<T>> => {
    try {
      return await run();
    } catch {
      return { ok: false, failure: { code: 'call.failed', operation } };
    }
  };
  return {
    call: (name, input) =>
      guarded(name, () => {
        // TypeScript can't relate name and input through a union of names; the contract does.
        const run = bridge[name] as (input: unknown) => Promise<Outcome<CallOutput<typeof name>>>;
        return run(plain(input));
      }),
    drop: (file) => guarded('batch.drop', () => bridge['batch.drop'](file)),
    dropFiles: (files) => guarded('batch.dropFiles', () => bridge['batch.dropFiles'](files)),
    dropForInventory: (files) => guarded('inventory.drop', () => bridge['inventory.drop'](files)),
    dropApproval: (file) => guarded('approval.drop', () => bridge['approval.drop'](file)),
    on: (event, listener) => bridge.on(event, listener),
  };
}
