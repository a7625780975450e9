import type { KeyringBackend } from './native-calls.ts';

/** The native module, loaded when first needed: where it can't be, the desk still starts and says so. */
export async function loadKeytar(): Promise<KeyringBackend> {
  const { default: keytar } = await import('keytar');
  return keytar;
}
