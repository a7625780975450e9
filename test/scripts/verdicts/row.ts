import fs from 'node:fs';
import type { Workstation } from '../../support/signed-files.ts';

export const valid = [0, 'VALID'] as const;
export const notValid = [1, 'NOT VALID'] as const;
export const unchecked = [2, 'COULD NOT BE CHECKED'] as const;
export const unknown = [3, 'CONSISTENT, SIGNER UNKNOWN'] as const;

/**
 * What was done to the files; the exit code and the verdict's word; what is said of it. The change gives what the verifier is
 * given, where that isn't all there is.
 */
export type Row = readonly [
  what: string,
  change: (given: Workstation) => unknown,
  expected: readonly [code: number, verdict: string],
  said?: string | RegExp,
];

export const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
export const bom = (text: string): string => `\uFEFF${text}`;
export const nothing = (): string => '';
export const without =
  (at: number) =>
  <T>(lines: readonly T[]): T[] =>
    lines.toSpliced(at, 1);
export const swapped = <T>([head, one, two, ...more]: readonly T[]): T[] =>
  [head, two, one, ...more].filter((line) => line !== undefined);
export const doubled = <T>([head, one, ...more]: readonly T[]): T[] =>
  [head, one, one, ...more].filter((line) => line !== undefined);

/** In place of this workstation's log that of another. */
export async function withLogOf(given: Workstation, other: Promise<Workstation>): Promise<void> {
  const { log } = await other;
  fs.rmSync(given.log, { recursive: true });
  fs.cpSync(log, given.log, { recursive: true });
}
