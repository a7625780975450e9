import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ExportChoice, Reading } from '../../electron/contract/models/batch.ts';

const part = (name: string): string => join(import.meta.dirname, name);

/** Runs one of this folder's programs in a process of its own; what it says is its last line, as JSON. */
export async function runPart<T>(name: string, ...args: string[]): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [part(name), ...args], {
    maxBuffer: 1 << 24,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as T;
}

/**
 * With a service in a process of its own that gives back what it gets but for the first character, or refuses so many values
 * of ten. `first`: what it puts there.
 */
export async function withEcho<T>(
  act: (url: string, ca: string) => Promise<T>,
  refusedOfTen = 0,
  first = '~',
): Promise<T> {
  const service = spawn(process.execPath, [part('echo-service.ts'), String(refusedOfTen), first], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(service.stdout, 'data')) as [Buffer];
    const { url, ca } = JSON.parse(line.toString()) as { url: string; ca: string };
    return await act(url, ca);
  } finally {
    service.stdin.end();
    await once(service, 'exit');
  }
}

export interface Product {
  readonly state: string;
  readonly tally: { readonly ok: number };
  readonly exported: number | string;
  /** Until the source is open, unpacked where it is packed. Not in `ms`. */
  readonly openMs: number;
  readonly ms: number;
  readonly runMs: number;
  readonly busy: number;
  readonly exportMs: number;
  readonly cpuMs: number;
  readonly peakRss: number;
  readonly p99Run: number;
  readonly max: number;
  readonly longestGc: number;
  /** Collections that look at all objects, old and young. */
  readonly wholeCollections: number;
  /** Of the run and its export. */
  readonly syncs: number;
  /** What journal, results and audit log take afterwards. */
  readonly diskBytes: number;
}

/** The whole path of the product over a table of so many rows; throws when it did not come to its end. */
export async function runProduct(
  rows: number,
  input: string,
  service: {
    readonly url: string;
    readonly ca: string;
    readonly audited?: boolean;
    readonly syncMs?: number;
    readonly operation?: 'tokenize' | 'tokenize inside';
    readonly reading?: Partial<Reading>;
    readonly passphrase?: string;
    readonly choice?: Partial<ExportChoice>;
  },
): Promise<Product> {
  const options = { input, output: `${input}.out`, inFlight: 8, ...service };
  const measured = await runPart<Product>('product-path.ts', JSON.stringify(options));
  if (measured.state !== 'finished' || measured.tally.ok !== rows || measured.exported !== rows) {
    throw new Error(`the run did not finish: ${JSON.stringify(measured)}`);
  }
  return measured;
}
