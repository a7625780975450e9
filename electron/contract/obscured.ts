/*
 * Text that must not stand in the window's memory as one piece crosses the bridge obscured: each UTF-16 unit XORed with
 * one of a random key that the window made, both as four hexadecimal digits a unit. Strings can't be overwritten, and
 * Electron and Chromium keep the last messages in buffers of their own until these are used again; what stays there is
 * then of no use by itself. It is no encryption: main and window trust the channel between them.
 */

/** Long enough for a card, a name, an address; a longer text uses it again from the start. */
const keyUnits = 256;

/** A text with its xorKey, as the window sends a secret. */
export interface ObscuredText {
  readonly xorKey: string;
  readonly obscured: string;
}

const toHex = (unit: number): string => unit.toString(16).padStart(4, '0');
const unitAt = (hex: string, index: number): number =>
  Number.parseInt(hex.slice(index * 4, index * 4 + 4), 16);

export function newXorKey(): string {
  return Array.from(globalThis.crypto.getRandomValues(new Uint16Array(keyUnits)), toHex).join('');
}

/** Obscures the first `length` units that `unit` gives. */
export function obscure(unit: (index: number) => number, length: number, keyHex: string): string {
  const units = keyHex.length / 4;
  let obscured = '';
  for (let index = 0; index < length; index++) obscured += toHex(unit(index) ^ unitAt(keyHex, index % units));
  return obscured;
}

export function obscureText(text: string, keyHex: string): string {
  return obscure((index) => text.charCodeAt(index), text.length, keyHex);
}

/** Gives the text a character at a time, and never as a whole. */
export function* restore(obscured: string, keyHex: string): Generator<string> {
  const units = keyHex.length / 4;
  const at = (index: number): number => unitAt(obscured, index) ^ unitAt(keyHex, index % units);
  for (let index = 0; index < obscured.length / 4; index++) {
    const unit = at(index);
    const isPair = unit >= 0xd800 && unit < 0xdc00 && index + 1 < obscured.length / 4;
    yield isPair ? String.fromCharCode(unit, at(++index)) : String.fromCharCode(unit);
  }
}

export function restoreText({ obscured, xorKey: keyHex }: ObscuredText): string {
  return [...restore(obscured, keyHex)].join('');
}
