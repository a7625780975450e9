import { valueKinds } from '../../../../electron/contract/value-kinds.ts';
import type {
  FoundValues,
  Inventory,
  InventoryColumn,
  InventoryFile,
} from '../../../../electron/contract/models/inventory.ts';
import { sentenceFor } from '../../../messages/messages.ts';
import { formatCount, formatRows, formatUnits } from '../../../lib/format.ts';

export type InventoryKind = (typeof valueKinds)[number];

export const kindLabels: Readonly<Record<InventoryKind, string>> = {
  card: 'Card numbers',
  ssn: 'SSNs',
  iban: 'IBANs',
  email: 'E-mail addresses',
};

export interface FoundKind extends FoundValues {
  readonly kind: InventoryKind;
}

/** What a column, or what is in none, holds of the kinds. */
export const foundKinds = (found: InventoryColumn['found']): FoundKind[] =>
  valueKinds.flatMap((kind) =>
    found[kind].are + found[kind].contain === 0 ? [] : [{ kind, ...found[kind] }],
  );

/** Whether there is more to say of a column than how many cells it has. */
export const isTelling = ({ found, tokens, leaves }: InventoryColumn): boolean =>
  foundKinds(found).length > 0 || tokens > 0 || leaves !== null;

/** Cells with values of a kind, in the table and beside it. */
export const cellsWith = ({ columns, outside }: InventoryFile, kind: InventoryKind): number =>
  [...columns, outside].reduce((sum, { found }) => sum + found[kind].are + found[kind].contain, 0);

export const holdsValues = (file: InventoryFile): boolean =>
  valueKinds.some((kind) => cellsWith(file, kind) > 0);

/** "412,003 cells with card numbers, 12 with SSNs"; '' where there are none. */
export function formatHeld(files: readonly InventoryFile[]): string {
  const parts = valueKinds.flatMap((kind) => {
    const cells = files.reduce((sum, file) => sum + cellsWith(file, kind), 0);
    return cells === 0 ? [] : [[kind, cells] as const];
  });
  return parts
    .map(([kind, cells], at) => {
      const count = at === 0 ? formatUnits(cells, 'cell') : formatCount(cells);
      const label = kindLabels[kind];
      return `${count} with ${/^[A-Z]{2}/.test(label) ? label : label.toLowerCase()}`;
    })
    .join(', ');
}

/** "500,000 rows, 37 of them left out: they can’t be taken apart". */
export function formatCounted({ rows, leftOut }: Pick<InventoryFile, 'rows' | 'leftOut'>): string {
  return leftOut === 0
    ? formatRows(rows)
    : `${formatRows(rows)}, ${formatCount(leftOut)} of them left out: they can’t be taken apart`;
}

/** Names of columns that hold values of the kinds, and with which the plan does nothing. */
export const unplannedColumns = ({ columns }: InventoryFile): string[] =>
  columns
    .filter(({ found, leaves }) => leaves === null && foundKinds(found).length > 0)
    .map(({ name }) => name);

/** Cells that the plan sends; null where it sends none of any column. */
export function cellsToSend({ columns }: InventoryFile): number | null {
  const planned = columns.flatMap(({ leaves }) => (leaves === null ? [] : [leaves]));
  return planned.length === 0 ? null : planned.reduce((sum, count) => sum + count, 0);
}

export const fileLabel = ({ name, sheet }: Pick<InventoryFile, 'name' | 'sheet'>): string =>
  sheet === null ? name : `${name}, sheet ${sheet}`;

/** Why a file was not read to its end. */
export const formatUnread = ({ failure, columns }: InventoryFile): string => {
  if (failure === null) return '';
  // The message of a batch's file says how to go on with the batch.
  const sentence =
    failure.code === 'file.changed' ? 'It was changed while it was read.' : sentenceFor(failure);
  return columns.length === 0 ? sentence : `${sentence} Counted is what was read before.`;
};

export const unreadFiles = ({ files }: Inventory): number =>
  files.filter(({ failure }) => failure !== null).length;
