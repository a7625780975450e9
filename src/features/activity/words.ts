import type { FailureCode } from '../../../electron/contract/errors.ts';
import { isFailureCode, reasonFor } from '../../messages.ts';

/** The log holds codes of any version; one this version does not know is shown as it is. */
export function failureText(code: string | null): string | null {
  if (code === null) return null;
  return isFailureCode(code) ? reasonFor(code satisfies FailureCode) : code;
}
