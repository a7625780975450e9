import { createHash } from 'node:crypto';
import { valueKinds } from '../../contract/value-kinds.ts';
import type {
  FoundValues,
  Inventory,
  InventoryColumn,
  InventoryFile,
} from '../../contract/models/inventory.ts';
import { createRowWriter } from '../../storage/csv.ts';
import { Markup, markup } from '../../util/markup.ts';

const kindNames = { card: 'Cards', ssn: 'SSNs', iban: 'IBANs', email: 'E-mail addresses' } as const;

/** A line of what was counted: a column, or what of a file is in none. */
interface CountedLine {
  readonly file: InventoryFile;
  /** Null for what is in no column. */
  readonly column: InventoryColumn | null;
  readonly found: InventoryFile['outside']['found'];
}

/** A file of which nothing was counted has one too, which says why. */
const linesOf = ({ files }: Inventory): CountedLine[] =>
  files.flatMap((file) => [
    ...file.columns.map((column) => ({ file, column, found: column.found })),
    { file, column: null, found: file.outside.found },
  ]);

/** A line a column, and one for what is in none. It holds no value of a cell. */
export function inventoryCsv(inventory: Inventory): string {
  const writer = createRowWriter({ delimiter: ',', newline: '\r\n', spreadsheet: true });
  const head = ['file', 'sheet', 'column', 'name', 'rows', 'left_out', 'blank', 'tokens', 'would_leave'];
  const kinds = valueKinds.flatMap((kind) => [`${kind}_are`, `${kind}_contain`, `${kind}_first_rows`]);
  const lines = linesOf(inventory).map(({ file, column, found }) =>
    writer.line([
      file.name,
      file.sheet ?? '',
      column === null ? '' : String(column.index + 1),
      column?.name ?? '',
      ...[file.rows, file.leftOut].map(String),
      ...[column?.blank, column?.tokens, column?.leaves].map((count) => String(count ?? '')),
      ...valueKinds.flatMap((kind) => {
        const { are, contain, first } = found[kind];
        return [String(are), String(contain), first.join(' ')];
      }),
      file.failure?.code ?? '',
    ]),
  );
  return [writer.line([...head, ...kinds, 'failure']), ...lines].join('');
}

const style = `
  :root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
  body { margin: 32px auto; max-width: 1300px; padding: 0 24px; }
  h1 { font-size: 22px; } h2 { font-size: 16px; margin-top: 32px; overflow-wrap: anywhere; }
  .wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 12px; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0; border-bottom: 1px solid #8886; }
  td { font-variant-numeric: tabular-nums; } .found { font-weight: 600; background: #ffb30040; }
  .failed { font-weight: 600; }
  @media print { body { margin: 0; max-width: none; } }
`;
const hash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;
const policy = `default-src 'none'; style-src ${hash}; base-uri 'none'; form-action 'none'`;

const heads = ['Column', 'Rows', 'Blank', ...Object.values(kindNames), 'Tokens', 'Would leave'];

function foundCell({ are, contain, first }: FoundValues): Markup {
  if (are + contain === 0) return markup`<td></td>`;
  const rows = first.length === 0 ? '' : `; row ${first.join(', ')}`;
  return markup`<td class="found">${are} are, ${contain} contain${rows}</td>`;
}

function lineOf({ file, column, found }: CountedLine): Markup {
  const own = column === null ? 'In no column' : `${column.index + 1}: ${column.name}`;
  return markup`<tr><th scope="row">${own}</th><td>${column === null ? '' : file.rows - file.leftOut}</td><td>${column?.blank ?? ''}</td>${valueKinds.map((kind) => foundCell(found[kind]))}<td>${column?.tokens ?? ''}</td><td>${column?.leaves ?? ''}</td></tr>
`;
}

/** The same for reading: one page that fetches nothing and runs nothing. */
export function inventoryPage({ files, more }: Inventory, made: Date): string {
  const parts = files.map((file) => {
    const name = file.sheet === null ? file.name : `${file.name}, sheet ${file.sheet}`;
    const failure =
      file.failure === null
        ? []
        : [
            markup`<p class="failed">Not read to its end (${file.failure.code}). Counted is what was read.</p>`,
          ];
    return markup`<h2>${name}</h2>
<p>${file.rows} rows, ${file.leftOut} left out: they can’t be taken apart.</p>${failure}
<div class="wide" role="region" aria-label="Counts" tabindex="0">
<table><thead><tr>${heads.map((head) => markup`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${linesOf({ files: [file], more: 0 }).map(lineOf)}</tbody></table></div>
`;
  });
  return markup`<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(policy)}">
<meta name="viewport" content="width=device-width">
<title>What is in these files</title>
<style>${new Markup(style)}</style></head><body>
<h1>What is in these files</h1>
<p>Made ${made.toISOString()} by Tokendesk. ${files.length} files or sheets; ${more} more were not looked through. No value of a cell is in this page. A cell “is” what it holds where nothing but signs stands beside it, else it “contains” it. Rows are counted from 1 below the header.</p>
${parts}</body></html>
`.text;
}
