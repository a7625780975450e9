import type { SecretState } from '../../../electron/contract/models/connection.ts';

export const secretWords: Record<SecretState, { look: 'ok' | 'warn' | 'quiet'; words: string }> = {
  stored: { look: 'ok', words: 'In the keychain' },
  memory: { look: 'warn', words: 'In memory until the app closes' },
  missing: { look: 'quiet', words: 'Not stored yet' },
  locked: { look: 'warn', words: 'Stored, but the keychain is locked' },
};

export const kinds = [
  { value: 'card', label: 'Card number' },
  { value: 'ssn', label: 'Social security number' },
  { value: 'email', label: 'E-mail address' },
  { value: 'text', label: 'Free text' },
] as const;

export const environments = [
  { value: 'development', label: 'Development' },
  { value: 'test', label: 'Test' },
  { value: 'production', label: 'Production' },
] as const;

export const stepWords = {
  reach: 'The service answers',
  session: 'The API key and the policy open a session',
  mask: 'The policy may mask the token',
} as const;
