import { readFileSync } from 'node:fs';

/** One measured figure. The ratio is what travels from machine to machine. */
export interface Figure {
  readonly name: string;
  readonly value: number | null;
  readonly unit: string;
  /** To what `reference` names; null where there is none. */
  readonly ratio?: number | null;
  readonly reference?: string;
  readonly bar?: string;
  readonly holds?: boolean;
  readonly note?: string;
}

/** Measures one thing with all that it is compared to. `folder` is for its files, and removed afterwards. */
export type Measure = (folder: string) => Promise<Figure[]>;

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** Of this process, all its threads: the steadier figure where others use the machine too. */
export const cpuMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000;

/**
 * The most memory that this process had, in bytes. Not `resourceUsage().maxRSS` where it can be helped: Linux counts in it
 * what the process had that started this one, before it became another program.
 */
export function peakMemory(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const [, kib = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  return Number(kib) * 1024;
}
