import { tableLimits } from '../table-limits.ts';
import { type Package, packageLimits, Refusal } from './package.ts';
import { plainSign, readXml, type UsualElements } from './xml.ts';
import { isBlank } from '../../util/blank.ts';

/** What a number format makes of a number, as far as it changes what a person takes the cell for. */
export type NumberStyle =
  | { readonly kind: 'plain' }
  | { readonly kind: 'moment'; readonly date: boolean; readonly time: boolean }
  | { readonly kind: 'elapsed' }
  /** Zeros in front, as for ZIP codes and social security numbers: `00000`, `000\-00\-0000`. */
  | { readonly kind: 'padded'; readonly code: string };

export interface CellText {
  readonly text: string;
  /** More digits than a spreadsheet keeps: those after the fifteenth are gone. */
  readonly rounded: boolean;
}

const plain: NumberStyle = { kind: 'plain' };
const whole = { text: '', rounded: false };

/** The formats that have a number and no code (ECMA-376 part 1, 18.8.30), and East Asia's at 27 to 36 and 50 to 58. */
export function builtInStyle(id: number): NumberStyle {
  if (id >= 14 && id <= 17) return { kind: 'moment', date: true, time: false };
  if ((id >= 18 && id <= 21) || id === 45 || id === 47) return { kind: 'moment', date: false, time: true };
  if (id === 46) return { kind: 'elapsed' };
  if (id === 22) return { kind: 'moment', date: true, time: true };
  if ((id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return { kind: 'moment', date: true, time: false };
  return plain;
}

/** Characters a spreadsheet allows in a number format. */
export const maxFormatCode = 255;

/** Time is linear in the code's length. */
export function styleOfCode(code: string): NumberStyle {
  const first = /^(?:"[^"]*"|\\.|[^;"\\])*/.exec(code)?.[0] ?? '';
  if (/^0+(?:(?:\\[- ]|"[- ]"|[- ])0+)*$/.test(first) && digitsIn(first) > 1 && digitsIn(first) <= 15)
    return { kind: 'padded', code: first.replaceAll(/[\\"]/g, '') };
  const bare = first.replaceAll(/"[^"]*"|\\.|[_*]./g, '');
  if (/\[[hms]+\]/i.test(bare)) return { kind: 'elapsed' };
  const letters = bare.replaceAll(/\[[^[\]]*\]|general|standard|am\/pm|a\/p/gi, '');
  const time = /[hs]/i.test(letters);
  const date = /[yd]/i.test(letters) || (/m/i.test(letters) && !time);
  return date || time ? { kind: 'moment', date, time } : plain;
}

const digitsIn = (code: string): number => code.replaceAll(/[^0]/g, '').length;

/**
 * A number as the file has it → the text a person takes the cell for. Integers of up to 15 digits come digit by
 * digit. Longer ones come in scientific notation whatever the file says, as the spreadsheet shows them: their last
 * digits are not what was typed, and nothing may be sent in their place.
 */
export function numberText(raw: string, style: NumberStyle, from1904: boolean): CellText {
  if (style.kind === 'plain' && /^-?(?:0|[1-9]\d{0,14})$/.test(raw)) return { text: raw, rounded: false };
  const value = isBlank(raw) ? Number.NaN : Number(raw);
  if (!Number.isFinite(value)) return { ...whole, text: raw };
  if (style.kind === 'moment') {
    const text = momentText(value, style, from1904);
    if (text !== null) return { ...whole, text };
  }
  if (style.kind === 'elapsed' && value >= 0 && value < 1e6) return { ...whole, text: clockText(value) };
  if (Math.abs(value) >= 1e15) {
    const [mantissa = '', exponent = ''] = value.toExponential(14).split('e');
    return { text: `${mantissa.replace(/\.?0+$/, '')}E${exponent}`, rounded: true };
  }
  if (style.kind === 'padded' && Number.isInteger(value) && value >= 0)
    return { ...whole, text: padNumber(value, style.code) };
  // A spreadsheet keeps fifteen digits: 0.30000000000000004 is 0.3.
  const [mantissa = '', exponent] = String(Number(value.toPrecision(15))).split('e');
  return { ...whole, text: exponent === undefined ? mantissa : `${mantissa}E${exponent}` };
}

function padNumber(value: number, code: string): string {
  const digits = Array.from(String(value).padStart(digitsIn(code), '0'));
  const text = Array.from(code)
    .reverse()
    .map((char) => (char === '0' ? (digits.pop() ?? '0') : char))
    .reverse()
    .join('');
  return digits.join('') + text;
}

const dayMs = 86_400_000;

/** ISO 8601, without a time zone since a spreadsheet has none. Null for what is no day of a spreadsheet's calendar. */
function momentText(
  serial: number,
  { date, time }: { date: boolean; time: boolean },
  from1904: boolean,
): string | null {
  if (serial < 0 || serial >= 2_958_466) return null;
  const ms = Math.round(serial * dayMs);
  const day = Math.floor(ms / dayMs);
  const rest = ms - day * dayMs;
  if (!date && day === 0) return clockText(rest / dayMs);
  const clock = time || rest > 0 ? `T${clockText(rest / dayMs)}` : '';
  // The calendar from 1900 has a 29 February that year, which never was: day 60.
  if (!from1904 && day === 60) return `1900-02-29${clock}`;
  const first = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, day < 60 ? 31 : 30);
  return new Date(first + day * dayMs).toISOString().slice(0, 10) + clock;
}

function clockText(days: number): string {
  const ms = Math.round(days * dayMs);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const part = ms % 1_000 === 0 ? '' : `.${String(ms % 1_000).padStart(3, '0')}`;
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${part}`;
}

/** The texts of a workbook, each once, by their number. */
export interface SharedStrings {
  /** Throws `Refusal` when there is none of that number. */
  get(index: number): string;
}

const blockBytes = 4 * 1024 * 1024;
const blockEntries = 64 * 1024;

/**
 * Texts packed as UTF-8 outside the heap: a full sheet has millions, and as strings they took ten times the memory
 * and stalled the process while the collector went through them.
 */
function packStrings(): SharedStrings & { add(text: string): void } {
  const blocks: Buffer[] = [];
  /** For each text its block, position in it and length. */
  const entries: Uint32Array[] = [];
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
      if (count % blockEntries === 0) entries.push(new Uint32Array(blockEntries * 3));
      entries.at(-1)?.set([blocks.length - 1, used, length], (count % blockEntries) * 3);
      used += block.write(text, used);
      count += 1;
    },
    get(index) {
      const entry = entries[Math.floor(index / blockEntries)];
      if (index >= count || entry === undefined) throw new Refusal('file.workbook-damaged');
      const at = (index % blockEntries) * 3;
      const from = entry[at + 1] ?? 0;
      return blocks[entry[at] ?? 0]?.toString('utf8', from, from + (entry[at + 2] ?? 0)) ?? '';
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
      if (text.length > tableLimits.field) throw new Refusal('file.workbook-too-large');
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
  pack: Pick<Package, 'size' | 'read'>,
  part: string | null,
  between: (bytes: number) => void,
): Promise<SharedStrings> {
  const strings = packStrings();
  const size = part === null ? null : pack.size(part);
  if (part === null || size === null) return strings;
  if (size > packageLimits.sharedStrings) throw new Refusal('file.workbook-too-large');
  const hooks = textHooks();
  const close = (name: string): void => {
    hooks.close(name);
    if (name === 'si') strings.add(hooks.take());
  };
  const usual: UsualElements = {
    parents: ['sst'],
    begins: '<si><t',
    take: (xml, at) => {
      usualText.lastIndex = at;
      let end = at;
      for (let found = usualText.exec(xml); found !== null; found = usualText.exec(xml)) {
        end = usualText.lastIndex;
        hooks.open('si');
        hooks.open('t');
        hooks.text(found[1] ?? '');
        hooks.close('t');
        close('si');
      }
      return end;
    },
  };
  await readXml(await pack.read(part), { ...hooks, close, usual }, between);
  return strings;
}

const usualText = new RegExp(`<si><t(?: xml:space="preserve")?>(${plainSign}*)</t></si>`, 'y');
