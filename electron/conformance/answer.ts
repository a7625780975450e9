import { isObject, memberAt } from '../service/answers.ts';
import type { Exchange, Headers } from '../service/http/exchange.ts';
import type { Reading } from './read-as-app.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Null where it was not one of the operations that was asked. */
  readonly operation: string | null;
  /** What the app makes of it; null where it was none of the operations behind a session, or was refused by its status. */
  readonly reading: Reading | null;
}

export function answerOf({ reply }: Extract<Exchange, { ok: true }>): Answer {
  const { status, headers } = reply;
  // With a mark of byte order, where there is one: the specification has JSON alone.
  const text = reply.body.toString('utf8');
  return { status, headers, text, body: asObject(text), operation: null, reading: null };
}

function asObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : { value };
  } catch {
    return {};
  }
}

export const memberOf = (json: unknown, name: string): unknown =>
  typeof json === 'object' && json !== null ? (json as Record<string, unknown>)[name] : undefined;

/** The first of these members that is a text. */
export function textIn(json: unknown, names: readonly string[]): string | null {
  if (!isObject(json)) return null;
  const found = names.map((name) => memberAt(json, name)).find((one) => typeof one === 'string');
  return found ?? null;
}
