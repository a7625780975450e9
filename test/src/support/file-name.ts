import type { FileName } from '../../../electron/contract/models/fields.ts';

/** A name as main would have masked it. */
export const fileNamed = (name: string): FileName => name as FileName;
