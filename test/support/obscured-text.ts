import { obscureText, newXorKey, type ObscuredText } from '../../electron/contract/obscured.ts';

/** As the window covers what was typed. */
export function obscuredOf(text: string): ObscuredText {
  const xorKey = newXorKey();
  return { xorKey, obscured: obscureText(text, xorKey) };
}
