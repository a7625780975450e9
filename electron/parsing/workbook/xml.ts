import { TextDecoder } from 'node:util';
import { SaxesParser } from 'saxes';
import { Refusal } from './package.ts';

export type Attributes = Readonly<Record<string, string>>;

/** Called for each element and text; names without their namespace prefix, which writers choose as they like. */
export interface XmlHooks {
  open(name: string, attributes: Attributes): void;
  text?(text: string): void;
  close?(name: string): void;
  readonly usual?: UsualElements;
}

/** What most of a part is made of, always written in one way. The parser takes five times as long for it. */
export interface UsualElements {
  /** The element they stand in, and those around it that there have to be. */
  readonly parents: readonly string[];
  /** How each of them begins. */
  readonly begins: string;
  /** Tells the hooks of those that stand one behind the other from `at`. Returns where they end, within such an element. */
  readonly take: (text: string, at: number) => number;
}

/** A character of a text that stands for itself, in each version of XML: for a regular expression. */
export const plainSign = '[^<>&\\0-\\x1f\\x7f-\\x9f\\u2028\\ud800-\\udfff\\ufffe\\uffff]';

/** No element or text of a workbook comes near these; what does was made to fill the memory. */
const tokenBytes = 8 * 1024 * 1024;
const depth = 100;
/** Of usual elements, within the one they stand in. */
const usualDepth = 2;

/** Parsed between two calls of `between`: of shared texts and wide rows, a whole piece may make a hundred megabytes. */
const sliceBytes = 2 * 1024;

/**
 * Reads one part as strict XML, piece by piece. `between` is called after each piece, with the bytes read so far. A
 * document type declaration is refused: it is where entities would be declared, and no workbook has one.
 */
export async function readXml(
  pieces: AsyncIterable<Buffer>,
  hooks: XmlHooks,
  between?: (bytes: number) => Promise<void> | void,
): Promise<void> {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false });
  let quiet = 0;
  const open: string[] = [];
  let tags = 0;
  parser.on('opentag', ({ name, attributes }) => {
    quiet = 0;
    tags += 1;
    open.push(name);
    if (open.length > depth) throw new Refusal('file.workbook-damaged');
    hooks.open(local(name), attributes);
  });
  parser.on('closetag', ({ name }) => {
    quiet = 0;
    tags += 1;
    open.pop();
    hooks.close?.(local(name));
  });
  parser.on('text', (text) => {
    quiet = 0;
    hooks.text?.(text);
  });
  parser.on('cdata', (text) => {
    quiet = 0;
    hooks.text?.(text);
  });
  const refuse = (): never => {
    throw new Refusal('file.workbook-damaged');
  };
  parser.on('doctype', refuse);
  parser.on('error', refuse);
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding !== undefined && !/^utf-?(8|16)$/i.test(encoding)) refuse();
  });

  let decoder: TextDecoder | null = null;
  let bytes = 0;
  const feed = (text: string, size: number): void => {
    if (hooks.usual === undefined) parser.write(text);
    else feedBetween(text, hooks.usual);
    quiet += size;
    if (quiet > tokenBytes) throw new Refusal('file.workbook-too-large');
  };
  /** Writes what is between the usual elements. Only the parser knows what is content, and no comment or value. */
  const feedBetween = (text: string, { parents, begins, take }: UsualElements): void => {
    for (let at = 0; at < text.length;) {
      const next = text.indexOf(begins, at);
      if (next < 0) {
        parser.write(text.slice(at));
        return;
      }
      if (next > at + 1) parser.write(text.slice(at, next - 1));
      const before = tags;
      if (next > at) parser.write(text.slice(next - 1, next));
      // Behind a sign that ended a tag content begins.
      const end =
        tags > before && open.length + usualDepth <= depth && isWithin(open, parents)
          ? take(text, next)
          : next;
      if (end > next) quiet = 0;
      // One that is not usual is the parser's.
      else parser.write(begins);
      at = end > next ? end : next + begins.length;
    }
  };
  for await (const piece of pieces) {
    decoder ??= new TextDecoder(encodingOf(piece), { fatal: true });
    for (let at = 0; at < piece.length; at += sliceBytes) {
      const slice = piece.subarray(at, at + sliceBytes);
      bytes += slice.length;
      feed(decodePiece(decoder, slice), slice.length);
      await between?.(bytes);
    }
  }
  feed(decoder === null ? '' : decodePiece(decoder, null), 0);
  parser.close();
}

const isWithin = (open: readonly string[], parents: readonly string[]): boolean =>
  parents.every((name, at) => open[open.length - parents.length + at] === name);

function local(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}

function encodingOf(first: Buffer): string {
  if (first[0] === 0xff && first[1] === 0xfe) return 'utf-16le';
  if (first[0] === 0xfe && first[1] === 0xff) return 'utf-16be';
  return 'utf-8';
}

function decodePiece(decoder: TextDecoder, piece: Buffer | null): string {
  try {
    return piece === null ? decoder.decode() : decoder.decode(piece, { stream: true });
  } catch {
    throw new Refusal('file.workbook-damaged');
  }
}
