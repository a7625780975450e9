import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleScript } from '../support/bundle-script.ts';
import type { DiskFault } from '../support/faulty-disk.ts';
import { text, workbook } from '../support/make-workbook.ts';

interface LivesReport {
  readonly lives: number;
  /** By the phase that a process was in when it was killed, or found the disk full. */
  readonly phases: Readonly<Record<string, number>>;
  /** What was said where the disk was full. */
  readonly codes: Readonly<Record<string, number>>;
  readonly wrong: readonly string[];
}

const rows = 1_500;
const cellsOf = (row: number): string[] => [row % 25 === 7 ? `BAD${row}` : `t${row}`, `n${row}`, `${row},5`];

/** A text with lines above and below its table, and a sheet, of which the app keeps a copy of its own. */
async function writeSources(folder: string): Promise<string[]> {
  const lines = ['Report;x', '', 'token;name;amount'];
  for (let row = 0; row < rows; row++) lines.push(cellsOf(row).join(';'));
  lines.push('Total;;9,5', '');
  const sheet = [['token', 'name', 'amount'], ...Array.from({ length: rows }, (_, row) => cellsOf(row))];
  const xml = sheet
    .map(
      (cells, r) =>
        `<row r="${r + 1}">${cells.map((cell, c) => text(`${'ABC'[c] ?? ''}${r + 1}`, cell)).join('')}</row>`,
    )
    .join('');
  await writeFile(join(folder, 'in.csv'), lines.join('\r\n'));
  await writeFile(join(folder, 'in.xlsx'), await workbook({ sheets: [{ rows: xml }] }));
  return ['in.csv', 'in.xlsx'];
}

/**
 * Processes that are killed before one of their changes to the disk, or find it full from there on, as many in each phase;
 * each is followed by one without a fault. Whatever happened, no file is half written, and the last export is
 * that of an undisturbed life, byte for byte.
 */
export async function runLives(what: DiskFault['what'], lives: number): Promise<LivesReport> {
  const folder = await mkdtemp(join(tmpdir(), 'tokendesk-lives-'));
  const { file, remove } = await bundleScript(join(import.meta.dirname, '../support/doomed-batch.ts'));
  const phases: Record<string, number> = {};
  const codes: Record<string, number> = {};
  const wrong: string[] = [];
  const names = await writeSources(folder);

  function live(home: string, source: string, fault: DiskFault | null): string[] {
    const options = JSON.stringify({ home, source, fault });
    const child = spawnSync(process.execPath, [file, options], { encoding: 'utf8', timeout: 120_000 });
    if (child.stderr !== '') wrong.push(`${source}, ${fault?.at ?? 0}: ${child.stderr.slice(0, 500)}`);
    return child.stdout.trim().split('\n');
  }

  try {
    for (const name of names) {
      const calm = await mkdtemp(join(folder, 'calm-'));
      const source = join(folder, name);
      const told = live(calm, source, null);
      const starts = told.flatMap(
        (line) => /^(?:reading|running|mending|exporting|changes) (\d+)$/.exec(line)?.[1] ?? [],
      );
      const phasesOf = starts.length - 1;
      if (told.at(-1) !== 'done' || phasesOf < 1) throw new Error(`no undisturbed life: ${told.join(', ')}`);
      const output = 'in_cleartext.csv';
      const expected = await readFile(join(calm, output));
      const each = Math.ceil(lives / names.length);
      for (let n = 0; n < each; n++) {
        const [from = 0, to = 0] = starts.slice(n % phasesOf).map(Number);
        const share = (Math.floor(n / phasesOf) + 0.5) / Math.ceil(each / phasesOf);
        const at = from + 1 + Math.floor(share * (to - from));
        const home = await mkdtemp(join(folder, 'life-'));
        const first = live(home, source, { at, what });
        const phase =
          first
            .map((line) => /^(reading|running|mending|exporting) /.exec(line)?.[1])
            .findLast((one) => one !== undefined) ?? 'opening';
        phases[phase] = (phases[phase] ?? 0) + 1;
        if (what === 'full') {
          const code = first.at(-1) ?? '';
          codes[code] = (codes[code] ?? 0) + 1;
          if (!/^(?:done|file\.disk-full|file\.no-room|file\.unwritable)$/.test(code))
            wrong.push(`${name}, ${at}: ${code}`);
        }
        const there = await readFile(join(home, output)).catch(() => null);
        if (there !== null && !there.equals(expected)) wrong.push(`${name}, ${at}: another file was written`);
        const last = live(home, source, null);
        if (last.at(-1) !== 'done') wrong.push(`${name}, ${at}: ${last.join(', ')}`);
        const found = await readFile(join(home, output)).catch(() => Buffer.alloc(0));
        if (!found.equals(expected)) wrong.push(`${name}, ${at}: not the same bytes`);
        const half = (await readdir(home)).filter((one) => one.endsWith('.partial'));
        if (half.length > 0 && what === 'kill') wrong.push(`${name}, ${at}: ${half.join(', ')} is left`);
        await rm(home, { recursive: true, force: true });
      }
    }
  } finally {
    remove();
    await rm(folder, { recursive: true, force: true });
  }
  return { lives, phases, codes, wrong };
}
