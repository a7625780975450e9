import type { Package } from './open-package.ts';
import { packageLimits } from './open-package.ts';
import { readXml } from './read-xml.ts';
import { Refusal } from './refusal.ts';
import { limits } from '../read-rows.ts';

/** The texts of a workbook, each once, by their number. */
export interface SharedStrings {
  /** Throws `Refusal` when there is none of that number. */
  get(index: number): string;
}

const blockBytes = 4 * 1024 * 1024;
const blockPlaces = 64 * 1024;

/**
 * Texts packed as UTF-8 outside the heap: a full sheet has millions, and as strings they took ten times the memory
 * and stalled the process while the collector went through them.
 */
export function packStrings(): SharedStrings & { add(text: string): void } {
  const blocks: Buffer[] = [];
  /** For each text its block, beginning and length. */
  const places: Uint32Array[] = [];
  let count = 0;
  let used = 0;
  return {
    add(text) {
      const length = Buffer.byteLength(text);
      let block = blocks.at(-1);
      if (block === undefined || used + length > block.length) {
        block = Buffer.allocUnsafeSlow(Math.max(blockBytes, length));
        blocks.push(block);
        used = 0;
      }
      if (count % blockPlaces === 0) places.push(new Uint32Array(blockPlaces * 3));
      const place = places.at(-1);
      place?.set([blocks.length - 1, used, length], (count % blockPlaces) * 3);
      used += block.write(text, used);
      count += 1;
    },
    get(index) {
      const place = places[Math.floor(index / blockPlaces)];
      if (index >= count || place === undefined) throw new Refusal('file.workbook-damaged');
      const at = (index % blockPlaces) * 3;
      const from = place[at + 1] ?? 0;
      return blocks[place[at] ?? 0]?.toString('utf8', from, from + (place[at + 2] ?? 0)) ?? '';
    },
  };
}

/** Formatting within a text is dropped, and so are the readings above it that Japanese texts may have. */
export function textHooks(): {
  open(name: string): void;
  text(text: string): void;
  close(name: string): void;
  take(): string;
} {
  let text = '';
  let inText = false;
  let inReading = false;
  return {
    open(name) {
      if (name === 'rPh') inReading = true;
      inText = name === 't' && !inReading;
    },
    text(more) {
      if (!inText) return;
      text += more;
      if (text.length > limits.field) throw new Refusal('file.workbook-too-large');
    },
    close(name) {
      if (name === 'rPh') inReading = false;
      inText = false;
    },
    take() {
      const whole = text;
      text = '';
      return unescapeText(whole);
    },
  };
}

/** `_x000D_` stands for a character that XML can't hold. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text
    .replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .toWellFormed();
}

export async function readSharedStrings(
  pack: Package,
  part: string | null,
  between: (bytes: number) => void,
): Promise<SharedStrings> {
  const strings = packStrings();
  const size = part === null ? null : pack.size(part);
  if (part === null || size === null) return strings;
  if (size > packageLimits.sharedStrings) throw new Refusal('file.workbook-too-large');
  const hooks = textHooks();
  await readXml(
    await pack.read(part),
    {
      open: (name) => {
        hooks.open(name);
      },
      text: (text) => {
        hooks.text(text);
      },
      close(name) {
        hooks.close(name);
        if (name === 'si') strings.add(hooks.take());
      },
    },
    between,
  );
  return strings;
}
