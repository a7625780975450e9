/*
 * Text that must not stand in the window's memory as one piece crosses the bridge covered: each UTF-16 unit XORed with
 * one of a random pad that the window made, both as four hexadecimal digits a unit. Strings can't be overwritten, and
 * hosts keep the last messages in buffers of their own until these are used again; what stays there is then of no use
 * by itself. It is no encryption: main and window trust the channel between them.
 */

/** Long enough for a card, a name, an address; a longer text uses it again from the start. */
const padUnits = 256;

/** A text with its pad, as the window sends a secret. */
export interface CoveredText {
  readonly pad: string;
  readonly covered: string;
}

const toHex = (unit: number): string => unit.toString(16).padStart(4, '0');
const unitAt = (hex: string, index: number): number =>
  Number.parseInt(hex.slice(index * 4, index * 4 + 4), 16);

export function newPad(): string {
  return Array.from(globalThis.crypto.getRandomValues(new Uint16Array(padUnits)), toHex).join('');
}

/** Covers the first `length` units that `unit` gives. */
export function cover(unit: (index: number) => number, length: number, padHex: string): string {
  const units = padHex.length / 4;
  let covered = '';
  for (let index = 0; index < length; index++) covered += toHex(unit(index) ^ unitAt(padHex, index % units));
  return covered;
}

export function coverText(text: string, padHex: string): string {
  return cover((index) => text.charCodeAt(index), text.length, padHex);
}

/** Gives the text a character at a time, and never as a whole. */
export function* uncover(covered: string, padHex: string): Generator<string> {
  const units = padHex.length / 4;
  const at = (index: number): number => unitAt(covered, index) ^ unitAt(padHex, index % units);
  for (let index = 0; index < covered.length / 4; index++) {
    const unit = at(index);
    const isPair = unit >= 0xd800 && unit < 0xdc00 && index + 1 < covered.length / 4;
    yield isPair ? String.fromCharCode(unit, at(++index)) : String.fromCharCode(unit);
  }
}

export function uncoverText({ covered, pad: padHex }: CoveredText): string {
  return [...uncover(covered, padHex)].join('');
}
