import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { managedSettings, type ManagedName } from '../contract/models/app.ts';

/** Runs one of the system's programs, and answers what it prints, in that encoding (UTF-8). Rejects where it fails. */
export type RunProgram = (
  file: string,
  args: readonly string[],
  encoding?: BufferEncoding,
) => Promise<string>;

/** What the administrator has in one place; null where there is nothing. */
export type Source =
  { readonly name: string; readonly value: unknown } | { name: string; reason: string } | null;

const registryParent = 'HKLM\\Software\\Policies';

/**
 * The system's folder for programs on Windows: where its own library was loaded from. Not as the environment names it,
 * which is the person's to set: a program of his own would say that there is no policy.
 */
function systemFolder(libraries: readonly string[]): string {
  const own = libraries.find((file) => path.win32.basename(file).toLowerCase() === 'ntdll.dll');
  return own === undefined ? 'C:\\Windows\\System32' : path.win32.dirname(own);
}

/**
 * The values below HKLM\Software\Policies\Tokendesk, from what `reg query` prints: nobody else can write that. What it
 * prints has lost every letter that the console's code page lacks. Where that may be so the key is exported into a file as
 * well, whose texts are taken where they are the printed ones but for lost letters: the file is in the person's folder, and
 * may be another's by the time it is read. A machine without the key has no policy; one whose registry can't be asked is a
 * failure.
 */
export async function readRegistry({
  run,
  libraries = () => [],
}: {
  readonly run: RunProgram;
  readonly libraries?: () => readonly string[];
}): Promise<Source> {
  const name = `${registryParent}\\Tokendesk`;
  let scratch: string | null = null;
  try {
    const program = path.win32.join(systemFolder(libraries()), 'reg.exe');
    const keys = await run(program, ['query', registryParent, '/reg:64'], 'latin1');
    if (!/\\Tokendesk\r?$/im.test(keys)) return null;
    const printed = parsePrinted(await run(program, ['query', name, '/reg:64'], 'latin1'));
    const isWhole = !printed.some(({ texts }) => texts?.some(mayLackLetters) === true);
    // Of a key without values nothing is printed: it has to be one.
    if (isWhole && printed.length > 0) return { name, value: valuesOf(printed) };
    scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-policy-'));
    const file = path.join(scratch, 'policy.reg');
    await run(program, ['export', name, file, '/y', '/reg:64']);
    const exported = parseRegistry(fs.readFileSync(file, 'utf16le'));
    if (printed.length === 0 && Object.keys(exported).length > 0) throw new TypeError('Not what was printed');
    return { name, value: valuesOf(printed.map((one) => withLetters(one, exported))) };
  } catch {
    return { name, reason: 'the registry can’t be read' };
  } finally {
    if (scratch !== null) fs.rmSync(scratch, { recursive: true, force: true });
  }
}

/** One value: a number, a text or a list of texts; of another type it has neither. */
interface RegistryValue {
  readonly name: string;
  readonly number?: number;
  readonly texts?: readonly string[];
  readonly isList: boolean;
}

/** What `reg query` prints of one key. Throws at any line it does not understand, or a value would be left out. */
function parsePrinted(text: string): RegistryValue[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (lines.length > 0 && !/^HKEY_LOCAL_MACHINE\\.*\\Tokendesk$/i.test(lines.shift() ?? ''))
    throw new TypeError('Not the key');
  return lines.map((line) => {
    const [, name, type, raw = ''] = /^ {4}(\S.*?) {4}(REG_\w+)(?: {4}(.*))?$/.exec(line) ?? [];
    if (name === undefined || type === undefined) throw new TypeError('Not a value');
    const isList = type === 'REG_MULTI_SZ';
    if (type === 'REG_DWORD') {
      const number = /^0x[0-9a-f]{1,8}$/i.test(raw) ? Number.parseInt(raw, 16) : Number.NaN;
      return { name, number, isList };
    }
    if (type === 'REG_SZ') return { name, texts: [raw], isList };
    if (isList) return { name, texts: raw.split('\\0').filter((part) => part !== ''), isList };
    return { name, isList };
  });
}

/** In place of a letter stands a question mark, or a byte that is none of ASCII. */
const mayLackLetters = (text: string): boolean => /[^\x20-\x3e\x40-\x7e]/.test(text);

/** The same with the texts of the export. Throws where they are others. */
function withLetters(value: RegistryValue, exported: Readonly<Record<string, unknown>>): RegistryValue {
  if (value.texts?.some(mayLackLetters) !== true) return value;
  const found = exported[value.name];
  const texts = (Array.isArray(found) ? found : [found]).filter((text) => typeof text === 'string');
  const isSame =
    texts.length === value.texts.length &&
    value.texts.every((text, index) => isPrintedAs(texts[index] ?? '', text));
  if (!isSame) throw new TypeError('Not the text that was printed');
  return { ...value, texts };
}

/** Letters that are none of ASCII begin with a lost one, and have up to four bytes each in any code page. */
function isPrintedAs(text: string, printed: string): boolean {
  const parts = (text.match(/[\x20-\x7e]+|[^\x20-\x7e]+/g) ?? []).map((part) =>
    /[\x20-\x7e]/.test(part)
      ? part.replaceAll(/[^\w ]/g, String.raw`\$&`)
      : String.raw`[?\x80-\xff][^]{${Array.from(part).length - 1},${4 * part.length - 1}}?`,
  );
  return new RegExp(`^${parts.join('')}$`).test(printed);
}

/** Numbers that are yes or no here; the registry has no type for that. */
const isFlag = (name: string): boolean =>
  Object.hasOwn(managedSettings.shape, name) &&
  managedSettings.shape[name as ManagedName].safeParse(true).success;

const numberOf = (name: string, value: number): unknown => (isFlag(name) && value <= 1 ? value === 1 : value);

function valuesOf(values: readonly RegistryValue[]): Record<string, unknown> {
  return Object.fromEntries(
    values.map(({ name, number, texts, isList }) => {
      if (number !== undefined) return [name, numberOf(name, number)];
      return [name, texts === undefined ? null : isList ? texts : texts[0]];
    }),
  );
}

/**
 * The values of an exported key: texts, numbers (REG_DWORD) and lists of texts (REG_MULTI_SZ). Throws at any line it
 * does not understand, or a value would be left out.
 */
export function parseRegistry(text: string): Record<string, unknown> {
  // A long list goes on in the next line after a backslash.
  const joined = text.replace(/^\ufeff/, '').replaceAll(/\\\r?\n\s*/g, '');
  const [head, key, ...lines] = joined.split(/\r?\n/).filter((line) => line !== '');
  if (head !== 'Windows Registry Editor Version 5.00' || !/^\[.*\\Tokendesk\]$/i.test(key ?? ''))
    throw new TypeError('Not an exported key');
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, raw] = /^"((?:[^"\\]|\\.)*)"=(.*)$/.exec(line) ?? [];
      if (name === undefined || raw === undefined) throw new TypeError('Not a value');
      return [name, registryValue(name, raw)];
    }),
  );
}

function registryValue(name: string, raw: string): unknown {
  const number = /^dword:([0-9a-f]{1,8})$/i.exec(raw)?.[1];
  if (number !== undefined) return numberOf(name, Number.parseInt(number, 16));
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(raw)?.[1];
  if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, '$1');
  const bytes = /^hex\(7\):([0-9a-f,]*)$/i.exec(raw)?.[1];
  if (bytes === undefined) return null;
  const text = Buffer.from(bytes.replaceAll(',', ''), 'hex').toString('utf16le');
  return text.split('\0').filter((part) => part !== '');
}
