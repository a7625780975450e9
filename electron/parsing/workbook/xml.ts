import { TextDecoder } from 'node:util';
import { SaxesParser } from 'saxes';
import { Refusal } from './package.ts';

export type Attributes = Readonly<Record<string, string>>;

/** Called for each element and text; names without their namespace prefix, which writers choose as they like. */
export interface XmlHooks {
  open(name: string, attributes: Attributes): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** No element or text of a workbook comes near these; what does was made to fill the memory. */
const tokenBytes = 8 * 1024 * 1024;
const depth = 100;

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
  let level = 0;
  parser.on('opentag', ({ name, attributes }) => {
    quiet = 0;
    level += 1;
    if (level > depth) throw new Refusal('file.workbook-damaged');
    hooks.open(local(name), attributes);
  });
  parser.on('closetag', ({ name }) => {
    quiet = 0;
    level -= 1;
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
    parser.write(text);
    quiet += size;
    if (quiet > tokenBytes) throw new Refusal('file.workbook-too-large');
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
