import type { SecretState } from '../../../electron/contract/models/connection.ts';

export const secretWords: Record<SecretState, { variant: 'ok' | 'warn' | 'quiet'; label: string }> = {
  stored: { variant: 'ok', label: 'In the keychain' },
  memory: { variant: 'warn', label: 'In memory until the app closes' },
  missing: { variant: 'quiet', label: 'Not stored yet' },
  locked: { variant: 'warn', label: 'Stored, but the keychain is locked' },
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
