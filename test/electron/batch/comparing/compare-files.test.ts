import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { repeatedBit, ValueRecords } from '../../../../electron/batch/comparing/value-groups.ts';
import { done, type Outcome } from '../../../../electron/contract/errors.ts';
import type { Comparison } from '../../../../electron/contract/models/compared.ts';
import { detokenize, openApp, planOf, type TestApp, valueOf } from '../../../support/batch-app.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

async function fileSide(name: string, text: string | Buffer, column = 0) {
  const file = path.join(app.folder, name);
  fs.writeFileSync(file, text);
  return { of: 'file', sourceId: await app.open(file), reading: {}, column } as const;
}

function comparisonOf(outcome: Outcome<Comparison | null>): Comparison {
  const found = valueOf(outcome);
  if (found === null) throw new Error('Nothing was compared');
  return found;
}

/** Every file under a folder, whatever it is. */
function bytesUnder(folder: string): Buffer {
  const files = fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(folder, name));
  return Buffer.concat(
    files.filter((name) => fs.statSync(name).isFile()).map((name) => fs.readFileSync(name)),
  );
}

/** The same counts by maps of texts. */
function countOf(files: readonly (readonly string[])[]) {
  const values = new Map<string, number[]>();
  for (const [file, cells] of files.entries())
    for (const cell of cells) {
      if (cell.trim() === '') continue;
      const counts = values.get(cell) ?? files.map(() => 0);
      counts[file] = (counts[file] ?? 0) + 1;
      values.set(cell, counts);
    }
  const groups = new Map<string, { files: number[]; values: number; rows: number[] }>();
  const repeated = files.map(() => ({ values: 0, rows: 0 }));
  for (const counts of values.values()) {
    const own = counts.flatMap((count, file) => (count > 0 ? [file] : []));
    const group = groups.get(own.join()) ?? { files: own, values: 0, rows: files.map(() => 0) };
    groups.set(own.join(), group);
    group.values += 1;
    for (const [file, count] of counts.entries()) {
      group.rows[file] = (group.rows[file] ?? 0) + count;
      const again = repeated[file];
      if (count < 2 || again === undefined) continue;
      again.values += 1;
      again.rows += count;
    }
  }
  return { groups: [...groups.values()], repeated };
}

const sorted = (groups: Comparison['groups']) =>
  [...groups].sort((a, b) => a.files.join().localeCompare(b.files.join()));

/** Some are longer than what is hashed as one block. */
const tokensOf = (count: number, seed: number): string[] =>
  Array.from({ length: count }, (_, n) => {
    const value = (n * seed) % 7_001;
    return n % 50 === 0 ? '' : `tok-${value.toString(36)}${value % 3 === 0 ? '-of-a-longer-value' : ''}`;
  });

const allRows = { group: null, file: null, repeated: false };

it('counts of three files are those of maps of texts, and each row is written with its group', async () => {
  const cells = [tokensOf(5_000, 3), tokensOf(9_000, 5), tokensOf(2_500, 11)];
  const sides = [];
  for (const [at, own] of cells.entries())
    sides.push(
      await fileSide(`file-${at}.csv`, `token,n\n${own.map((cell, n) => `${cell},${n}`).join('\n')}\n`),
    );
  app.target = path.join(app.folder, 'out.csv');
  const found = comparisonOf(await app.batch['compare.files']({ sides, write: true }));
  const { groups, repeated } = countOf(cells);
  expect(sorted(found.groups)).toEqual(sorted(groups));
  expect(found.files.map((file) => file.repeated)).toEqual(repeated);
  expect(found.files.map(({ rows, blank, leftOut }) => [rows, blank, leftOut])).toEqual([
    [5_000, 100, 0],
    [9_000, 180, 0],
    [2_500, 50, 0],
  ]);
  expect(found.written).toBe('out.csv');
  const [header, ...lines] = fs.readFileSync(app.target, 'utf8').trimEnd().split('\r\n');
  expect(header).toBe('file,name,source_row,in_files,repeated');
  const all = cells.map((own) => new Set(own));
  const expected = cells.flatMap((own, file) =>
    own.map((cell, row) => {
      const inFiles = cell === '' ? [] : all.flatMap((values, at) => (values.has(cell) ? [at + 1] : []));
      return [file + 1, `file-${file}.csv`, row + 1, inFiles.join(' ')].join(',');
    }),
  );
  expect(lines.map((line) => line.replace(/,(?:yes)?$/, ''))).toEqual(expected);
  expect(lines.filter((line) => line.endsWith(',yes'))).toHaveLength(
    repeated.reduce((sum, { rows }) => sum + rows, 0),
  );
  // Nothing of a value is in what was written, and the hashes are gone.
  expect(fs.readFileSync(app.target, 'utf8')).not.toContain('tok-');
  expect(fs.existsSync(`${app.target}.partial`)).toBe(false);
  expect(hashFiles(app.folder)).toEqual([]);
});

it('rows come by pages, of each group, file and of repeated values, and are saved as they were compared', async () => {
  expect(await app.batch['compare.rows']({ ...allRows, from: 0, count: 1 })).toMatchObject({
    failure: { code: 'compare.none' },
  });
  expect(await app.batch['compare.save']({})).toMatchObject({ failure: { code: 'compare.none' } });
  // More than the rows that are counted together.
  const cells = [tokensOf(40_000, 3), tokensOf(2_000, 5)];
  const sides = [];
  for (const [at, own] of cells.entries())
    sides.push(await fileSide(`file-${at}.csv`, `token\n${own.map((cell) => cell || '""').join('\n')}\n`));
  const { groups } = comparisonOf(await app.batch['compare.files']({ sides, write: false }));
  const sets = cells.map((own) => new Set(own));
  const counts = cells.map((own) => Map.groupBy(own, (cell) => cell));
  const expected = cells.flatMap((own, file) =>
    own.map((cell, at) => ({
      file,
      row: at + 1,
      inFiles: cell === '' ? [] : sets.flatMap((values, n) => (values.has(cell) ? [n] : [])),
      repeated: cell !== '' && (counts[file]?.get(cell)?.length ?? 0) > 1,
    })),
  );
  const filters = [null, ...groups.keys(), 99].flatMap((group) =>
    [null, 0, 1].flatMap((file) => [true, false].map((repeated) => ({ group, file, repeated }))),
  );
  for (const filter of filters) {
    const files = filter.group === null ? null : (groups[filter.group]?.files.join() ?? 'none');
    const rows = expected.filter(
      ({ file, inFiles, repeated }) =>
        (filter.file === null || filter.file === file) &&
        (files === null || inFiles.join() === files) &&
        (!filter.repeated || repeated),
    );
    for (const from of [0, 7, 16_383, 16_384, rows.length - 3, rows.length, rows.length + 5]) {
      if (from < 0) continue;
      const page = valueOf(await app.batch['compare.rows']({ ...filter, from, count: 50 }));
      expect([filter, page]).toEqual([
        filter,
        { total: rows.length, from, rows: rows.slice(from, from + 50) },
      ]);
    }
  }

  app.target = path.join(app.folder, 'saved.csv');
  expect(valueOf(await app.batch['compare.save']({}))).toEqual({ name: 'saved.csv' });
  expect(app.audit.intents.at(-1)).toMatchObject({
    action: 'SaveComparison',
    cleartext: false,
    note: 'saved.csv',
  });
  const [, ...lines] = fs.readFileSync(app.target, 'utf8').trimEnd().split('\r\n');
  expect(lines).toEqual(
    expected.map(({ file, row, inFiles, repeated }) => {
      const files = inFiles.map((at) => at + 1).join(' ');
      return `${file + 1},file-${file}.csv,${row},${files},${repeated ? 'yes' : ''}`;
    }),
  );
  // One that fails leaves nothing of the one before.
  const unknown = sides.map((side) => ({ ...side, column: 9 }));
  expect(await app.batch['compare.files']({ sides: unknown, write: false })).toMatchObject({
    failure: { code: 'plan.column-unknown' },
  });
  expect(await app.batch['compare.save']({})).toMatchObject({ failure: { code: 'compare.none' } });
});

it('equal text is equal in any encoding and form, spaces included; what can’t be read is left out', async () => {
  const one = await fileSide('a.csv', Buffer.from('token\nMüller\n x\n"a,b"\n\n"no end\n', 'latin1'));
  const two = await fileSide(
    'b.json',
    JSON.stringify([{ token: 'Müller' }, { token: 'x' }, { token: 'a,b' }, { token: 5 }]),
  );
  const found = comparisonOf(await app.batch['compare.files']({ sides: [one, two], write: false }));
  expect(found.files.map(({ rows, blank, leftOut }) => [rows, blank, leftOut])).toEqual([
    [5, 1, 1],
    [4, 0, 1],
  ]);
  expect(sorted(found.groups)).toEqual([
    { files: [0], values: 1, rows: [1, 0] },
    { files: [0, 1], values: 2, rows: [2, 2] },
    { files: [1], values: 1, rows: [0, 1] },
  ]);
  expect(found.written).toBeNull();
});

it('a batch that tokenized a file is compared with a file of its tokens', async () => {
  const clear = ['4111111111111111', '5500005555555559', '', '4111111111111111'];
  const source = await app.open(
    await app.write('clear.csv', `card,n\n${clear.map((card, n) => `${card},${n}`).join('\n')}\n`),
  );
  const { jobId } = await app.run(source, planOf([detokenize(0, { operation: 'tokenize' })]));
  const rows = valueOf(await app.batch['batch.rows']({ jobId, filter: 'all', from: 0, count: 4 })).rows;
  const token = rows[0]?.cells[0]?.text ?? '';
  const file = await fileSide('tokens.csv', `card,n\n${token},1\nother,2\n`);
  const sides = [{ of: 'batch', jobId, column: 0 } as const, file];
  const found = comparisonOf(await app.batch['compare.files']({ sides, write: false }));
  expect(found.files.map(({ rows: count, blank, repeated }) => [count, blank, repeated])).toEqual([
    [4, 1, { values: 1, rows: 2 }],
    [2, 0, { values: 0, rows: 0 }],
  ]);
  expect(sorted(found.groups)).toEqual([
    { files: [0], values: 1, rows: [1, 0] },
    { files: [0, 1], values: 1, rows: [2, 1] },
    { files: [1], values: 1, rows: [0, 1] },
  ]);
  const other = [{ ...sides[0], column: 1 } as (typeof sides)[0], file];
  expect(await app.batch['compare.files']({ sides: other, write: false })).toMatchObject({
    failure: { code: 'plan.column-unknown' },
  });
});

it('a guess that was pasted is compared with nothing, also as a batch of what it takes for tokens', async () => {
  const hidden = await fileSide('hidden.csv', 'card\n4111111111111111\n');
  const { sourceId } = valueOf(await app.batch['batch.paste']({ text: 'card\n4111111111111111\n' }));
  const pasted = { of: 'file', sourceId, reading: {}, column: 0 } as const;
  const refused = { failure: { code: 'compare.pasted' } };
  expect(await app.batch['compare.files']({ sides: [hidden, pasted], write: false })).toMatchObject(refused);
  const { jobId } = await app.run(sourceId, planOf([detokenize(0)]));
  const sides = [hidden, { of: 'batch', jobId, column: 0 } as const];
  expect(await app.batch['compare.files']({ sides, write: false })).toMatchObject(refused);
});

it('it is an act without disclosure in the log, with names and rows and no value', async () => {
  const sides = [
    await fileSide('4111111111111111.csv', 'card\n4111111111111111\n'),
    await fileSide('b.csv', 'card\n5500005555555559\n'),
  ];
  valueOf(await app.batch['compare.files']({ sides, write: false }));
  const intents = app.audit.intents.filter(({ action }) => action === 'CompareFiles');
  expect(intents).toHaveLength(1);
  expect(intents[0]).toMatchObject({ cleartext: false });
  expect(app.audit.ends.at(-1)).toEqual({ ok: true, rows: 2 });
  expect(JSON.stringify(app.audit)).not.toMatch(/4111111111111111|5500005555555559/);
  app.audit.refuse = { code: 'audit.unwritable' };
  expect(await app.batch['compare.files']({ sides, write: false })).toMatchObject({
    failure: { code: 'audit.unwritable' },
  });
});

const manyRows = (count: number): string =>
  `card\n${Array.from({ length: count }, (_, n) => `canary-${n}-4111111111111111`).join('\n')}\n`;

it('stopped, it leaves neither hashes nor a file', async () => {
  const sides = [await fileSide('a.csv', manyRows(50_000)), await fileSide('b.csv', manyRows(50_000))];
  app.target = path.join(app.folder, 'out.csv');
  const comparing = app.batch['compare.files']({ sides, write: true });
  await vi.waitFor(() => {
    expect(hashFiles(app.folder)).not.toEqual([]);
  });
  await app.batch['compare.stop']({});
  expect(await comparing).toMatchObject({ failure: { code: 'service.cancelled' } });
  expect(hashFiles(app.folder)).toEqual([]);
  expect(fs.existsSync(app.target)).toBe(false);
});

/** Files of comparisons that are under way. */
function hashFiles(home: string): string[] {
  const folder = path.join(home, 'jobs', 'opened');
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /^[^/\\]+[/\\][0-9a-f-]{36}$/.test(name));
}

it('killed, it leaves nothing in clear on the disk, and the next start removes what it left', async () => {
  const home = tempFolder();
  const files = tempFolder();
  for (const name of ['a.csv', 'b.csv']) fs.writeFileSync(path.join(files, name), manyRows(400_000));
  const script = `
    const { openApp } = await import(${JSON.stringify(path.resolve('test/support/batch-app.ts'))});
    const app = await openApp({ home: ${JSON.stringify(home)} });
    const sides = [];
    for (const name of ['a.csv', 'b.csv'])
      sides.push({ of: 'file', sourceId: await app.open(${JSON.stringify(files)} + '/' + name), reading: {}, column: 0 });
    await app.batch['compare.files']({ sides, write: true });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  await vi.waitFor(
    () => {
      expect(child.exitCode).toBeNull();
      const sizes = hashFiles(home).map((name) => fs.statSync(path.join(home, 'jobs', 'opened', name)).size);
      expect(Math.max(0, ...sizes)).toBeGreaterThan(1_000_000);
    },
    { timeout: 30_000, interval: 5 },
  );
  child.kill('SIGKILL');
  await ended;
  const left = bytesUnder(home);
  expect(left.length).toBeGreaterThan(1_000_000);
  for (const canary of ['canary-', '4111111111111111']) {
    expect(left.includes(canary)).toBe(false);
    expect(left.includes(Buffer.from(canary, 'utf16le'))).toBe(false);
  }
  const next = await openApp({ home });
  expect(hashFiles(home)).toEqual([]);
  await next.close();
}, 60_000);

it('one value in all rows, and none twice, are both counted whole', async () => {
  const written: Buffer[] = [];
  const records = new ValueRecords({
    write: (bytes) => (written.push(Buffer.from(bytes)), Promise.resolve(done(null))),
  });
  for (let row = 1; row <= 30_000; row++) {
    records.add(0, row, 'same');
    records.add(1, row, `n${row}`);
  }
  await records.end();
  const all = Buffer.concat(written);
  expect(all.includes('same')).toBe(false);
  const grouped = await records.group(
    { read: (offset, length) => Promise.resolve(done(all.subarray(offset, offset + length))) },
    { rows: [30_000, 30_000], signal: new AbortController().signal, report: () => undefined },
  );
  const { groups, repeated, ofRows } = valueOf(grouped);
  expect(groups).toEqual([
    { files: 1, values: 1, rows: [30_000, 0] },
    { files: 2, values: 30_000, rows: [0, 30_000] },
  ]);
  expect(repeated).toEqual([
    { values: 1, rows: 30_000 },
    { values: 0, rows: 0 },
  ]);
  expect(new Set(ofRows[0])).toEqual(new Set([1 | repeatedBit]));
  expect(new Set(ofRows[1])).toEqual(new Set([2]));
});
