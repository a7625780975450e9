import fs from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { done, type Outcome } from '../contract/errors.ts';
import type { SettingsDamage } from '../contract/models/app.ts';
import { makePrivate } from '../storage/durable.ts';
import { errorCode, UnusableFile, writeFailure } from '../storage/file-failures.ts';

/** What is used of electron-store. */
export interface SettingsFile {
  /** Where it is. It is not made before the first `set`. */
  readonly path: string;
  /** Writes the given members and keeps the others: a temporary file, synced and renamed. Throws. */
  set(members: Record<string, unknown>): void;
}

/** Handed to electron-store's constructor, which takes `name` and ignores `configName`. */
export interface SettingsFileOptions {
  readonly cwd: string;
  readonly name: string;
  readonly fileExtension: 'json';
  readonly configFileMode: 0o600;
  readonly clearInvalidConfig: false;
  readonly accessPropertiesByDotNotation: false;
  readonly deserialize: (text: string) => Record<string, unknown>;
}

export type Shape = Record<string, { readonly schema: z.ZodType; readonly initial: unknown }>;
type Value<S extends Shape, K extends keyof S> = z.infer<S[K]['schema']>;
type Document = Record<string, unknown>;
export type Migrations = Record<number, (document: Document) => Document>;

/** A small validated document in one file. One process owns it. It is read once; each write goes to the disk. */
export interface Store<S extends Shape> {
  read<K extends keyof S & string>(key: K): Value<S, K>;
  /** On the disk when it answers. Failures: file.unwritable, file.disk-full; the value before stays. */
  write<K extends keyof S & string>(key: K, value: Value<S, K>): Outcome<null>;
  /** What of the settings was not as expected at this start; null when all of it was. */
  readonly damage: SettingsDamage | null;
}

export interface WholeStore<S extends Shape> extends Store<S> {
  /** Several members in one write: all of them are on the disk, or none. Failures as `write`. */
  writeAll(values: { readonly [K in keyof S & string]?: Value<S, K> }): Outcome<null>;
}

interface StoreOptions<S extends Shape> {
  /** An existing folder of this user. */
  readonly folder: string;
  /** File name without `.json`. */
  readonly name: string;
  /** The name that earlier versions gave it, and the last version of the document that was written under it. */
  readonly earlier?: { readonly name: string; readonly lastVersion: number };
  readonly shape: S;
  readonly version: number;
  readonly migrations: Migrations;
  readonly openFile: (options: SettingsFileOptions) => SettingsFile;
  readonly now: () => Date;
}

/**
 * Reads the settings file, 0600. Nothing that was in it is lost:
 *
 * - One that is not JSON, or a folder of that name, is renamed to NAME.damaged-TIME.json.
 * - One in which a member does not fit its schema is copied to such a name before it is written over. That member starts
 *   from its default; of a list only the elements that don't fit are left out. Where no copy can be made, as on a full
 *   disk, the file stays as it is: writes fail until there is one.
 * - One of a newer version is left as it is: under an older number the newer version would migrate it once more. This
 *   version takes what fits of it into NAME.version-N.json, a file of its own, and uses that from then on.
 * - Such a file of an older version, found beside one that can be used, is renamed to NAME.other-TIME.json.
 * - One under the earlier name is renamed to the present one. Where both are there, the file of the present name is
 *   used if it is later than `lastVersion`, since only then a program that was installed has read it, and the other is
 *   renamed to NAME.other-TIME.json. What is under the earlier name and not of this app is left alone.
 *
 * Throws `UnusableFile` when the file can’t be read, or made, at all.
 */
export function createStore<S extends Shape>({
  folder,
  name,
  earlier,
  shape,
  version,
  migrations,
  openFile,
  now,
}: StoreOptions<S>): WholeStore<S> {
  const time = now().toISOString().replaceAll(/[-:.]/g, '');
  const kept: string[] = [];
  function keepAs(kind: 'damaged' | 'other', keep: (target: string) => void): void {
    const base = path.join(folder, `${name}.${kind}-${time}`);
    let target = `${base}.json`;
    for (let count = 2; fs.existsSync(target); count++) target = `${base}_${count}.json`;
    try {
      keep(target);
    } catch (error) {
      // Part of a copy, on a full disk.
      fs.rmSync(target, { force: true });
      throw error;
    }
    makePrivate(target, fs.statSync(target).isDirectory() ? 0o700 : 0o600);
    kept.push(path.basename(target));
  }
  const rename = (file: string, kind: 'damaged' | 'other'): void => {
    try {
      keepAs(kind, (target) => {
        fs.renameSync(file, target);
      });
    } catch (error) {
      throw new UnusableFile(file, error);
    }
  };

  let starting = true;
  const open = (fileName: string): SettingsFile => {
    try {
      return openFile({
        cwd: folder,
        name: fileName,
        fileExtension: 'json',
        configFileMode: 0o600,
        clearInvalidConfig: false,
        accessPropertiesByDotNotation: false,
        // A damaged file is dealt with below. Later it must not pass for an empty one, which a write would replace.
        deserialize: (text) => (starting ? (parseDocument(text) ?? {}) : parseJson(text)),
      });
    } catch (error) {
      throw new UnusableFile(path.join(folder, `${fileName}.json`), error);
    }
  };

  const place = path.join(folder, `${name}.json`);
  const isFolder = fs.statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder) rename(place, 'damaged');
  let file = open(name);
  const usual = file.path;
  const isNewer = versionOf(readFile(usual).document, version) > version;
  if (isNewer) file = open(`${name}.version-${version}`);
  else {
    if (earlier !== undefined) adopt(usual, { ...earlier, members: Object.keys(shape) }, rename);
    for (const other of filesOfVersions(folder, name, version)) rename(other, 'other');
  }
  const hasOther = kept.length > (isFolder ? 1 : 0);

  const found = readFile(file.path);
  const isUnreadable = found.text !== null && found.document === null;
  if (isUnreadable) rename(file.path, 'damaged');
  const isFirst = isNewer && found.document === null;
  const source = isFirst ? readFile(usual).document : found.document;
  const sourceVersion = versionOf(source, version);
  let document = source ?? {};
  for (let step = sourceVersion; step < version; step++) document = migrations[step]?.(document) ?? document;

  const values: Document = {};
  let allFit = true;
  for (const [key, { schema, initial }] of Object.entries(shape)) {
    const { value, fits } = salvage(schema, Object.hasOwn(document, key) ? document[key] : initial, initial);
    values[key] = value;
    allFit &&= fits;
  }
  const isUnfit = !allFit && !isFirst;
  for (const one of [usual, file.path]) if (fs.existsSync(one)) makePrivate(one, 0o600);
  starting = false;

  /** Whether the file's members are not those in use: after a migration, say. */
  let isBehind = !allFit || sourceVersion !== version;
  let isCopied = !isUnfit;
  function save(members: Document): void {
    if (!isCopied)
      keepAs('damaged', (target) => {
        fs.copyFileSync(file.path, target);
      });
    isCopied = true;
    file.set({ ...(isBehind && values), ...members, version });
    isBehind = false;
  }
  try {
    if (isBehind) save({});
  } catch {
    // A full disk must not stop the start. The next write has all of it.
  }

  const reason =
    isUnreadable || isFolder
      ? 'unreadable'
      : isUnfit
        ? isCopied
          ? 'unfit'
          : 'uncopied'
        : isNewer
          ? 'newer'
          : hasOther
            ? 'other'
            : null;
  if (reason === 'newer') kept.push(path.basename(file.path));
  function writeAll(given: Document): Outcome<null> {
    const checked: Document = {};
    for (const [key, value] of Object.entries(given)) {
      const parsed = shape[key]?.schema.safeParse(value, uncompiled);
      // The message names the key alone: zod's own may quote what did not fit.
      if (!parsed?.success) throw new TypeError(`Not a value of ${key}`);
      checked[key] = parsed.data;
    }
    if (Object.keys(checked).length === 0) return done(null);
    try {
      save(checked);
    } catch (error) {
      return writeFailure(error, path.basename(file.path));
    }
    Object.assign(values, structuredClone(checked));
    return done(null);
  }
  return {
    damage: reason === null ? null : { reason, keptAs: kept.join(', ') },
    read: (key) => structuredClone(values[key]) as Value<S, typeof key>,
    write: (key, value) => writeAll({ [key]: value }),
    writeAll,
  };
}

/** Gives a file of the earlier name the present one, unless the one that has it is to be used. */
function adopt(
  usual: string,
  earlier: SettingsMark & { readonly name: string },
  rename: (file: string, kind: 'other') => void,
): void {
  const file = path.join(path.dirname(usual), `${earlier.name}.json`);
  if (!isSettingsOf(file, earlier)) return;
  const present = readFile(usual);
  const isPresentUsed =
    present.document !== null &&
    (versionOf(present.document, 1) > earlier.lastVersion || readFile(file).document === null);
  if (present.text !== null) rename(isPresentUsed ? file : usual, 'other');
  if (!isPresentUsed) fs.renameSync(file, usual);
}

interface SettingsMark {
  readonly lastVersion: number;
  /** Names of the document's members. */
  readonly members: readonly string[];
}

/** Whether a file is this app's settings: in a folder that a person named it may be another program's. */
export function isSettingsOf(file: string, { lastVersion, members }: SettingsMark): boolean {
  // Nor may a folder of that name, say, stop the start.
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
  const { text, document } = readFile(file);
  if (document === null) return members.includes(/^\uFEFF?\s*\{\s*"(\w+)"/.exec(text ?? '')?.[1] ?? '');
  const isOfVersion = z.int().positive().max(lastVersion).safeParse(document['version']).success;
  return isOfVersion && members.some((key) => Object.hasOwn(document, key));
}

/** Files that this version or an older one had of its own beside a newer version's. */
function filesOfVersions(folder: string, name: string, version: number): string[] {
  const prefix = `${name}.version-`;
  return fs
    .readdirSync(folder)
    .filter((file) => file.startsWith(prefix) && /^\d+\.json$/.test(file.slice(prefix.length)))
    .filter((file) => Number.parseInt(file.slice(prefix.length)) <= version)
    .map((file) => path.join(folder, file));
}

/** The text is null where there is no file, the document where it isn't one. */
function readFile(file: string): { readonly text: string | null; readonly document: Document | null } {
  try {
    const text = fs.readFileSync(file, 'utf8');
    return { text, document: parseDocument(text) };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return { text: null, document: null };
    throw new UnusableFile(file, error);
  }
}

/** Editors on Windows begin a file with a byte order mark, which is not JSON. */
const parseJson = (text: string): Document => JSON.parse(text.replace(/^\uFEFF/, '')) as Document;

/** Null where the text is no JSON object. */
export function parseDocument(text: string): Document | null {
  try {
    const document: unknown = parseJson(text);
    const isObject = typeof document === 'object' && document !== null && !Array.isArray(document);
    return isObject ? (document as Document) : null;
  } catch {
    return null;
  }
}

/** Of an empty document, or none, `otherwise`; of one that doesn't say, 1. */
function versionOf(document: Document | null, otherwise: number): number {
  if (document === null || Object.keys(document).length === 0) return otherwise;
  return z.int().positive().catch(1).parse(document['version']);
}

/** A start needs each check once, and to compile it takes ten times as long. */
const uncompiled = { jitless: true };

/** What of a value fits its schema; of a list, the elements that do. */
export function salvage(
  schema: z.ZodType,
  value: unknown,
  initial: unknown,
): { value: unknown; fits: boolean } {
  const checked = schema.safeParse(value, uncompiled);
  if (checked.success) return { value: checked.data, fits: true };
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    const element = schema.element as z.ZodType;
    const fitting = value.flatMap((item) => {
      const parsed = element.safeParse(item, uncompiled);
      return parsed.success ? [parsed.data] : [];
    });
    const shorter = schema.safeParse(fitting, uncompiled);
    if (shorter.success) return { value: shorter.data, fits: false };
  }
  return { value: structuredClone(initial), fits: false };
}
