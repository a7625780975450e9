import fs from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { done, type Outcome } from '../contract/errors.ts';
import type { SettingsDamage } from '../contract/models/app.ts';
import { errorCode, writeFailure } from '../storage/file-failures.ts';

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

/** A small validated document in one file. One process owns it. It is read once; each write goes to the disk. */
export interface Store<S extends Shape> {
  read<K extends keyof S & string>(key: K): Value<S, K>;
  /** On the disk when it answers. Failures: file.unwritable, file.disk-full; the value before stays. */
  write<K extends keyof S & string>(key: K, value: Value<S, K>): Outcome<null>;
  /** What of the file could not be used at this start; null when all of it could. */
  readonly damage: SettingsDamage | null;
}

interface StoreOptions<S extends Shape> {
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
 * Reads the settings file, 0600. A file that is not JSON is renamed to NAME.damaged-TIME.json. One in which a member
 * does not fit its schema is copied to such a name, and that member starts from its default; of a list only the
 * elements that don't fit are left out. A file of a newer version is copied too, since writing to it would lose what
 * this version doesn't know. Throws when the folder or file can't be read at all.
 */
export function createStore<S extends Shape>({
  folder,
  name,
  shape,
  version,
  migrations,
  conf: createConf,
  now,
}: StoreOptions<S>): Store<S> {
  const file = path.join(folder, `${name}.json`);
  const keptAs = `${name}.damaged-${now().toISOString().replaceAll(/[-:.]/g, '')}.json`;
  const copy = path.join(folder, keptAs);

  const unreadable = !isReadable(file);
  if (unreadable) fs.renameSync(file, copy);
  const conf = createConf({
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
  let allFit = true;
  for (const [key, { schema, initial }] of Object.entries(shape)) {
    const { value, fits } = salvage(schema, Object.hasOwn(document, key) ? document[key] : initial, initial);
    values[key] = value;
    allFit &&= fits;
  }

  const isCopied = !allFit || foundVersion > version;
  if (isCopied) {
    fs.copyFileSync(file, copy);
    fs.chmodSync(copy, 0o600);
  }
  if (isCopied || foundVersion !== version) conf.set({ ...values, version });
  if (fs.existsSync(file)) fs.chmodSync(file, 0o600);

  const reason = unreadable ? 'unreadable' : foundVersion > version ? 'newer' : 'unfit';
  return {
    damage: unreadable || isCopied ? { reason, keptAs } : null,
    read: (key) => structuredClone(values[key]) as Value<S, typeof key>,
    write(key, value) {
      const checked = shape[key]?.schema.safeParse(value);
      // The message names the key alone: zod's own may quote what did not fit.
      if (!checked?.success) throw new TypeError(`Not a value of ${key}`);
      try {
        conf.set({ [key]: checked.data, version });
      } catch (error) {
        return writeFailure(error, `${name}.json`);
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
    if (errorCode(error) === 'ENOENT') return true;
    throw error;
  }
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null && !Array.isArray(document);
  } catch {
    return false;
  }
}

/** What of a value fits its schema; of a list, the elements that do. */
function salvage(schema: z.ZodType, value: unknown, initial: unknown): { value: unknown; fits: boolean } {
  const checked = schema.safeParse(value);
  if (checked.success) return { value: checked.data, fits: true };
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    const element = schema.element as z.ZodType;
    const fitting = value.flatMap((item) => {
      const parsed = element.safeParse(item);
      return parsed.success ? [parsed.data] : [];
    });
    const shorter = schema.safeParse(fitting);
    if (shorter.success) return { value: shorter.data, fits: false };
  }
  return { value: structuredClone(initial), fits: false };
}
