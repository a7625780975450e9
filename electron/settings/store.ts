import fs from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { done, failed, type Outcome } from '../contract/errors.ts';

/** What is used of `conf` and of electron-store, which have the same interface. */
export interface ConfLike {
  /** The whole document, read from the file. */
  readonly store: Record<string, unknown>;
  /** Writes the given members and keeps the others: a temporary file, synced and renamed. */
  set(members: Record<string, unknown>): void;
}

/** Handed to the constructor of `conf` or electron-store. */
export interface ConfOptions {
  readonly cwd: string;
  readonly configName: string;
  readonly fileExtension: 'json';
  readonly configFileMode: 0o600;
  readonly clearInvalidConfig: false;
  readonly accessPropertiesByDotNotation: false;
}

export type Shape = Record<string, { readonly schema: z.ZodType; readonly initial: unknown }>;
type Value<S extends Shape, K extends keyof S> = z.infer<S[K]['schema']>;
export type Migrations = Record<number, (document: Record<string, unknown>) => Record<string, unknown>>;

/** What could not be read, and where the file as it was is kept. */
export interface Damage {
  readonly why: 'unreadable' | 'unfit' | 'newer';
  readonly keptAs: string;
  /** The members that did not fit. */
  readonly keys: readonly string[];
}

/** A small validated document in one file. One process owns it; it is read once and written through. */
export interface Store<S extends Shape> {
  read<K extends keyof S & string>(key: K): Value<S, K>;
  /** On the disk when it answers. Failures: file.unwritable, file.disk-full; what was there before stays. */
  write<K extends keyof S & string>(key: K, value: Value<S, K>): Outcome<null>;
  /** Null when all was well. To be told to the person: defaults are in use for what was damaged. */
  readonly damage: Damage | null;
}

export interface StoreOptions<S extends Shape> {
  /** An existing folder of this user. */
  readonly folder: string;
  /** File name without `.json`. */
  readonly name: string;
  readonly shape: S;
  readonly version: number;
  readonly migrations: Migrations;
  readonly conf: (options: ConfOptions) => ConfLike;
  readonly now: () => Date;
}

/**
 * Opens the settings file, 0600. A file that is not JSON is moved aside as NAME.damaged-TIME.json; one in which
 * a member does not fit its schema is copied aside the same way and that member starts from its default (of a list,
 * only the elements that don't fit are left out). A file written by a newer version is copied aside too, since
 * writing to it would lose what this version doesn't know. Throws when the folder or file can't be read at all.
 */
export function createStore<S extends Shape>(parts: StoreOptions<S>): Store<S> {
  const { folder, name, shape, version, migrations } = parts;
  const file = path.join(folder, `${name}.json`);
  const aside = path.join(
    folder,
    `${name}.damaged-${parts.now().toISOString().replaceAll(/[-:.]/g, '')}.json`,
  );

  const unreadable = !isReadable(file);
  if (unreadable) fs.renameSync(file, aside);
  const conf = parts.conf({
    cwd: folder,
    configName: name,
    fileExtension: 'json',
    configFileMode: 0o600,
    clearInvalidConfig: false,
    accessPropertiesByDotNotation: false,
  });

  const found = { ...conf.store };
  const fresh = Object.keys(found).length === 0;
  const foundVersion = fresh ? version : z.int().positive().catch(1).parse(found['version']);
  let document = found;
  for (let step = foundVersion; step < version; step++) document = migrations[step]?.(document) ?? document;

  const values: Record<string, unknown> = {};
  const keys: string[] = [];
  for (const [key, { schema, initial }] of Object.entries(shape)) {
    const { value, whole } = salvage(schema, Object.hasOwn(document, key) ? document[key] : initial, initial);
    values[key] = value;
    if (!whole) keys.push(key);
  }

  const copyAside = keys.length > 0 || foundVersion > version;
  if (copyAside) {
    fs.copyFileSync(file, aside);
    fs.chmodSync(aside, 0o600);
  }
  if (copyAside || foundVersion !== version) conf.set({ ...values, version });
  if (fs.existsSync(file)) fs.chmodSync(file, 0o600);

  const why = unreadable ? 'unreadable' : foundVersion > version ? 'newer' : 'unfit';
  return {
    damage: unreadable || copyAside ? { why, keptAs: aside, keys } : null,
    read: (key) => structuredClone(values[key]) as Value<S, typeof key>,
    write(key, value) {
      const checked = shape[key]?.schema.safeParse(value);
      // The message names the key alone: zod's own may quote what did not fit.
      if (!checked?.success) throw new TypeError(`Not a value of ${key}`);
      try {
        conf.set({ [key]: checked.data, version });
      } catch (error) {
        return failed(isDiskFull(error) ? 'file.disk-full' : 'file.unwritable', { subject: `${name}.json` });
      }
      values[key] = structuredClone(checked.data);
      return done(null);
    },
  };
}

function isReadable(file: string): boolean {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null && !Array.isArray(document);
  } catch {
    return false;
  }
}

/** What of a value fits its schema; a list keeps the elements that do. */
function salvage(schema: z.ZodType, value: unknown, initial: unknown): { value: unknown; whole: boolean } {
  const checked = schema.safeParse(value);
  if (checked.success) return { value: checked.data, whole: true };
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    const element = schema.element as z.ZodType;
    const fitting = value.flatMap((item) => {
      const parsed = element.safeParse(item);
      return parsed.success ? [parsed.data] : [];
    });
    const rest = schema.safeParse(fitting);
    if (rest.success) return { value: rest.data, whole: false };
  }
  return { value: structuredClone(initial), whole: false };
}

function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
