import { isObject } from './answers.ts';

/** `<field name> is invalid` (spec §7). */
const MESSAGE = /^(.{1,200}?) is invalid\.?$/i;

/** The error codes of a failure body: one string under `errors` (403), or an array under `errors.code` (400). */
export function errorCodes(body: unknown): string[] {
  if (!isObject(body)) return [];
  const { errors } = body;
  const found = isObject(errors) ? errors.code : errors;
  return [found].flat().filter((code): code is string => typeof code === 'string');
}

/**
 * The Validation messages of a 400 by the field they name. A message that repeats what was sent, or holds anything
 * that could be part of a card number or an address, is dropped: the field's name alone is not worth the risk.
 */
export function fieldMessages(
  body: unknown,
  submitted: () => Iterable<string>,
): { name: string; message: string }[] {
  const validation = isObject(body) && isObject(body.errors) ? body.errors.Validation : null;
  if (!Array.isArray(validation)) return [];
  const messages = validation
    .filter((message): message is string => typeof message === 'string')
    .filter((message) => message.length <= 500 && !/(\d[ -]?){5}|@|[\p{Cc}]/u.test(message))
    .slice(0, 20);
  if (messages.length === 0) return [];
  const kept = new Set(messages.map((message) => message.toLowerCase()));
  for (const value of submitted()) {
    const text = value.trim().toLowerCase();
    if (text === '') continue;
    for (const message of kept) if (message.includes(text)) kept.delete(message);
    if (kept.size === 0) return [];
  }
  return messages
    .filter((message) => kept.has(message.toLowerCase()))
    .map((message) => ({ name: MESSAGE.exec(message)?.[1] ?? '', message }));
}
