import type { RecordColumn, RecordLayout } from './models/records.ts';

/** A layout that many have. `Fields` are name, width and where a value stands, one behind the other. */
export interface RecordPreset {
  readonly id: 'nacha' | 'dtaus' | 'base2';
  readonly label: string;
  readonly layout: RecordLayout;
}

type Field = readonly [name: string, width: number, fill?: RecordColumn['fill']];

function columnsOf(fields: readonly Field[]): RecordColumn[] {
  let start = 1;
  return fields.map(([name, width, fill]) => {
    const column = { name, start, width, ...(fill !== undefined && { fill }) };
    start += width;
    return column;
  });
}

export const recordPresets: readonly RecordPreset[] = [
  {
    id: 'nacha',
    label: 'NACHA: entries (6)',
    layout: {
      lines: true,
      bytes: 94,
      only: { start: 1, texts: ['6'] },
      columns: columnsOf([
        ['Record type', 1],
        ['Transaction code', 2],
        ['Receiving bank', 8],
        ['Check digit', 1],
        ['Account number', 17],
        ['Amount', 10],
        ['Individual ID', 15],
        ['Individual name', 22, 'left'],
        ['Discretionary data', 2],
        ['Addenda', 1],
        ['Trace number', 15],
      ]),
    },
  },
  {
    id: 'dtaus',
    label: 'DTAUS: payments (C)',
    layout: {
      lines: false,
      bytes: 128,
      // A part that only continues a payment may have any text: it is told by the length that begins a record.
      only: {
        start: 1,
        texts: Array.from({ length: 16 }, (_, parts) => `${String(187 + 29 * parts).padStart(4, '0')}C`),
      },
      columns: columnsOf([
        ['Length', 4],
        ['Record type', 1],
        ['First bank', 8],
        ['Bank of the payee', 8],
        ['Account of the payee', 10],
        ['Internal number', 13],
        ['Text key', 5],
        ['Reserved 1', 1],
        ['Amount in DM', 11],
        ['Bank of the payer', 8],
        ['Account of the payer', 10],
        ['Amount', 11],
        ['Reserved 2', 3],
        ['Name of the payee', 27, 'left'],
        ['Reserved 3', 8],
      ]),
    },
  },
  {
    id: 'base2',
    label: 'Card settlement: drafts (TC 05, 06, 07)',
    layout: {
      lines: true,
      bytes: 168,
      only: { start: 1, texts: ['0500', '0600', '0700', '2500', '2600', '2700'] },
      columns: columnsOf([
        ['Transaction code', 2],
        ['Qualifier', 1],
        ['Component', 1],
        ['Account number', 16],
        ['Account extension', 3],
        ['Floor limit', 1],
        ['Exception file', 1],
        ['PCAS', 1],
        ['Acquirer reference', 23],
        ['Acquirer ID', 8],
        ['Purchase date', 4],
        ['Destination amount', 12],
        ['Destination currency', 3],
        ['Source amount', 12],
        ['Source currency', 3],
        ['Merchant name', 25, 'left'],
        ['Merchant city', 13, 'left'],
        ['Merchant country', 3],
        ['Category', 4],
        ['Postal code', 5],
        ['State', 3],
        ['Payment service', 1],
        ['Payment forms', 1],
        ['Usage', 1],
        ['Reason', 2],
        ['Settlement', 1],
        ['Authorization characteristics', 1],
        ['Authorization code', 6],
        ['Terminal', 1],
        ['Reserved', 1],
        ['Cardholder ID method', 1],
        ['Collection only', 1],
        ['Entry mode', 2],
        ['Processing date', 4],
        ['Reimbursement', 1],
      ]),
    },
  },
];

export const presetOf = (id: RecordPreset['id']): RecordLayout => {
  const found = recordPresets.find((preset) => preset.id === id);
  if (found === undefined) throw new Error(id);
  return found.layout;
};
