import type { Notice } from '../../contract/models/batch.ts';
import type { RecordPreset } from '../../contract/record-presets.ts';
import { isBlank } from '../../util/blank.ts';
import { openCleartext } from '../../util/cleartext.ts';
import type { Chunk, Format } from '../reading/read-rows.ts';

/** A sum of the same bytes of many records, which another record of the file has. */
interface Total {
  readonly name: string;
  /** What begins the records that are summed up, and what begins the one that has the sum. */
  readonly summed: { readonly begins: RegExp; readonly start: number; readonly width: number };
  readonly stands: { readonly begins: RegExp; readonly start: number; readonly width: number };
  /** Whether the sum may be seen: of few account numbers it would tell one. */
  readonly isShown: boolean;
}

/**
 * By what the file is by its own signs, never by a layout: a window that could choose what is summed up could have a single
 * number told.
 */
const knownTotals: Readonly<Record<RecordPreset['id'], readonly Total[]>> = {
  nacha: [
    {
      name: 'The entry hash',
      summed: { begins: /^6/, start: 4, width: 8 },
      stands: { begins: /^9(?!9{93})/, start: 22, width: 10 },
      isShown: true,
    },
  ],
  dtaus: [
    {
      name: 'The sum of the account numbers',
      summed: { begins: /^\d{4}C/, start: 22, width: 10 },
      stands: { begins: /^0128E/, start: 31, width: 17 },
      isShown: false,
    },
    {
      name: 'The sum of the bank codes',
      summed: { begins: /^\d{4}C/, start: 14, width: 8 },
      stands: { begins: /^0128E/, start: 48, width: 17 },
      isShown: false,
    },
  ],
  base2: [],
};

/** Told of all chunks of a file, it knows which of its totals will not agree with what is written. */
export function createRecordTotals({ records, known }: Pick<Format, 'records' | 'known'>): {
  add(chunk: Pick<Chunk, 'table' | 'start'>): void;
  notices(mapped: readonly number[]): Notice[];
} {
  const totals = (known === undefined || known === null ? [] : knownTotals[known]).map((total) => ({
    ...total,
    sum: 0n,
    found: null as bigint | null,
  }));
  let others = 0;
  let firstOther = 0;

  function addRecord(record: string): void {
    for (const total of totals) {
      const { summed, stands } = total;
      if (summed.begins.test(record)) total.sum += numberAt(record, summed) ?? 0n;
      else if (stands.begins.test(record)) total.found ??= numberAt(record, stands);
    }
  }

  const changes = ({ summed }: Total, mapped: readonly number[]): boolean =>
    mapped.some((index) => {
      const column = records?.columns[index];
      return (
        column !== undefined &&
        column.start < summed.start + summed.width &&
        summed.start < column.start + column.width
      );
    });

  return {
    add({ table, start }) {
      if (records === undefined || (records.only === undefined && totals.length === 0)) return;
      for (let row = 0; row < table.count; row++) {
        const isOther = table.width(row) === 0;
        if (isOther && !isBlank(openCleartext(table.lineOf(row)))) {
          others += 1;
          if (others === 1) firstOther = start.row + row;
        }
        if (totals.length > 0) addRecord(openCleartext(table.lineOf(row)));
      }
    },
    notices(mapped) {
      const about = { row: 1, count: 1 };
      const ofTotals = totals.flatMap((total): Notice[] => {
        const { name: column, sum, found, stands, isShown } = total;
        if (found === null) return [{ kind: 'total-missing', column, ...about }];
        const own = sum % 10n ** BigInt(stands.width);
        const figure = isShown ? { figure: String(own).padStart(stands.width, '0') } : {};
        return [
          ...(own === found ? [] : [{ kind: 'total-wrong' as const, column, ...figure, ...about }]),
          ...(changes(total, mapped)
            ? [{ kind: 'total-changes' as const, column, ...figure, ...about }]
            : own === found && isShown
              ? [{ kind: 'total-stays' as const, column, ...figure, ...about }]
              : []),
        ];
      });
      return [
        ...ofTotals,
        ...(others === 0
          ? []
          : [{ kind: 'records-others' as const, row: firstOther, column: null, count: others }]),
      ];
    },
  };
}

function numberAt(record: string, { start, width }: { start: number; width: number }): bigint | null {
  const digits = record.slice(start - 1, start - 1 + width).trim();
  return /^\d+$/.test(digits) ? BigInt(digits) : null;
}
