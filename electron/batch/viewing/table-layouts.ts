import { createHmac } from 'node:crypto';
import { done, type Outcome } from '../../contract/errors.ts';
import type { TableLayout } from '../../contract/models/rows.ts';
import type { BatchOptions } from '../options.ts';
import { keyAccount } from '../storing/job-files.ts';

/** Files of as many shapes are remembered; the one changed longest ago is forgotten. */
const maxLayouts = 40;

type LayoutOptions = Pick<BatchOptions, 'keychain' | 'store'>;

/** What a person made of the table of files with these columns; empty where nothing was. Failures: keychain.*. */
export async function readLayout(
  options: LayoutOptions,
  columns: readonly string[],
): Promise<Outcome<TableLayout>> {
  const shape = await shapeOf(options, columns);
  if (!shape.ok) return shape;
  const known = options.store.read('layouts').find((layout) => layout.shape === shape.value);
  return done({ widths: known?.widths ?? [], hidden: known?.hidden ?? [] });
}

/** Failures: keychain.*, and those of the settings file. */
export async function saveLayout(
  options: LayoutOptions,
  columns: readonly string[],
  layout: TableLayout,
): Promise<Outcome<Record<string, never>>> {
  const shape = await shapeOf(options, columns);
  if (!shape.ok) return shape;
  const others = options.store.read('layouts').filter((known) => known.shape !== shape.value);
  const layouts = [{ shape: shape.value, ...layout }, ...others].slice(0, maxLayouts);
  const saved = options.store.write('layouts', layouts);
  return saved.ok ? done({}) : saved;
}

/** Keyed, since the names may be the first row of a file without a header, and could be guessed from a plain hash. */
async function shapeOf({ keychain }: LayoutOptions, columns: readonly string[]): Promise<Outcome<string>> {
  const key = await keychain.key(keyAccount);
  if (!key.ok) return key;
  const hash = createHmac('sha256', key.value).update('table layout').update(JSON.stringify(columns));
  return done(hash.digest('hex').slice(0, 32));
}
