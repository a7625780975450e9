import fs from 'node:fs';
import path from 'node:path';
import { valueKinds } from '../contract/value-kinds.ts';
import type { Inventory, InventoryFile } from '../contract/models/inventory.ts';
import type { InventoryArguments } from './arguments.ts';
import { printable, unlocked, valueOf, type Words } from './asked.ts';
import { End, type ExitCode, exitCodes } from './ends.ts';
import type { RunOptions } from './run.ts';
import { requireFolder } from './write-file.ts';

/** Counts what files and folders hold, and writes the counts where `--out` names a file. A file that can't be read is named. */
export async function lookThroughFiles(
  given: InventoryArguments,
  options: Omit<RunOptions, 'filePassphrase'>,
): Promise<ExitCode> {
  const { app, words, passphrase, print, signal } = options;
  const value = valueOf(app, words);
  await unlocked(value, passphrase);
  const out = given.out === null ? null : path.resolve(given.out);
  if (out !== null) {
    await requireFolder(options, path.dirname(out));
    if (fs.existsSync(out)) throw new End(exitCodes.refused, `There is a file ${out} already.`);
  }
  const stop = (): void => void app.ask('inventory.stop', {});
  const unlisten = app.on('inventory.progress', ({ rows, file }) => {
    print({ kind: 'progress', file, rows, total: null });
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) throw new End(exitCodes.paused, 'It was ended before anything was looked through.');
    const references = given.paths.map((one) => path.resolve(one));
    const found = await value('inventory.drop', { references });
    if (found === null) throw new End(exitCodes.refused, 'Nothing was looked through.');
    let written: string | null = null;
    if (out !== null) {
      app.exportTo(out);
      const form = out.toLowerCase().endsWith('.html') ? 'html' : 'csv';
      written = (await value('inventory.save', { form }))?.name ?? null;
    }
    print({ kind: 'inventory', ...found, written, sentence: sentenceOf(found, { written, words }) });
    return found.files.every(({ failure }) => failure === null) ? exitCodes.done : exitCodes.broken;
  } finally {
    signal.removeEventListener('abort', stop);
    unlisten();
  }
}

const kindWords = { card: 'cards', ssn: 'SSNs', iban: 'IBANs', email: 'e-mail addresses' } as const;

/** A line a file, and one for each of its columns that hold something. */
function sentenceOf(
  { files, more }: Inventory,
  { written, words }: { readonly written: string | null; readonly words: Pick<Words, 'failure'> },
): string {
  const lines = files.flatMap((file) => [fileLine(file, words), ...columnLines(file)]);
  if (more > 0) lines.push(`${more} files more were not looked through.`);
  if (written !== null) lines.push(`Written: ${written}`);
  return lines.join('\n');
}

function fileLine(
  { name, sheet, rows, leftOut, failure }: InventoryFile,
  words: Pick<Words, 'failure'>,
): string {
  const shown = printable(sheet === null ? name : `${name}, sheet ${sheet}`);
  const sentence = failure === null ? '' : `. ${words.failure(failure)}`;
  return `${shown}: ${rows} rows, ${leftOut} left out${sentence}`;
}

function columnLines({ columns, outside }: InventoryFile): string[] {
  const all = [
    ...columns.map(({ name, found }) => ({ name, found })),
    { name: 'in no column', found: outside.found },
  ];
  return all.flatMap(({ name, found }) => {
    const parts = valueKinds.flatMap((kind) => {
      const { are, contain, first } = found[kind];
      if (are + contain === 0) return [];
      const where = first.length === 0 ? '' : ` (row ${first.join(', ')})`;
      return [`${are} are and ${contain} contain ${kindWords[kind]}${where}`];
    });
    return parts.length === 0 ? [] : [`  ${printable(name)}: ${parts.join('; ')}`];
  });
}
