import path from 'node:path';
import type { FileName } from '../contract/models/fields.ts';
import { maskNumbers } from '../masking/masking.ts';

/** A file's name without its folder, as the window may see it. It may say as much as a row: people name files after a card. */
export const shownName = (file: string): FileName =>
  maskNumbers(path.basename(file).toWellFormed()).slice(0, 300) as FileName;

/** An answer whose failure names a file, for the window. */
export function withShownName<T>(answer: T): T {
  const { failure } = answer as { readonly failure?: { readonly code: string; readonly subject?: string } };
  if (failure?.subject === undefined || !failure.code.startsWith('file.')) return answer;
  return { ...answer, failure: { ...failure, subject: maskNumbers(failure.subject) } };
}
