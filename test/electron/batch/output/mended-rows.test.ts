import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import { failed } from '../../../../electron/contract/errors.ts';
import type { ExportChoice, Job, MendResult } from '../../../../electron/contract/models/batch.ts';
import {
  codeOf,
  detokenize,
  openApp,
  planOf,
  plainExport,
  takeIn,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
  answer();
});
afterEach(() => app.close());

/** Refuses what begins with `bad`, and answers in capitals otherwise. */
function answer(): void {
  app.service.answer = (_, elements) => ({
    ok: true,
    value: {
      requestId: 'r',
      elements: elements.map(({ ref, value }) =>
        value.startsWith('bad')
          ? { ref, ok: false, code: 'service.element-refused' as const, reason: 'Not a token' }
          : { ref, ok: true, value: cleartext(value.toUpperCase()) },
      ),
    },
  });
}

const source =
  '"n";"tok"\r\n"a";"t1"\r\nb ;bad1\r\n"c";"bad2"\r\nd;t4;surplus\r\ne;  spaced\r\n"f";bad6\r\ng;t7';
const asText = planOf([detokenize(1, { definition: 'text' })], { delimiter: ';' });

async function run(content: string | Buffer = source, plan = asText): Promise<Job> {
  return app.run(await app.open(await app.write('in.csv', content)), plan);
}

async function list(jobId: string, choice: Partial<ExportChoice> = {}): Promise<string> {
  const outcome = await app.batch['batch.export']({
    ...plainExport,
    safety: 'source',
    content: 'tokens',
    rows: 'failed',
    jobId,
    ...choice,
  });
  return readFile(join(app.folder, valueOf(outcome)?.name ?? ''), 'utf8');
}

/** Takes a changed list in, and waits for the run. */
async function mend(jobId: string, content: string | Buffer): Promise<MendResult> {
  const sourceId = await app.open(await app.write('mended.csv', content));
  const result = valueOf(await takeIn(app, { jobId, sourceId }));
  await app.until(jobId, 'finished');
  return result;
}

const whole = (jobId: string): Promise<string> => list(jobId, { rows: 'all', content: 'cleartext' });

describe('a list of failed rows that a person corrected', () => {
  it('merges into the job: changed rows are sent, all else keeps every byte', async () => {
    const { jobId, tally } = await run();
    expect(tally).toMatchObject({ rows: 7, ok: 3, failed: 4 });
    const listed = await list(jobId);
    const sentBefore = app.service.sent.length;
    const mended = listed.replace(';bad1', ';t2').replace('d;t4;surplus', 'd;t4');
    expect(await mend(jobId, mended)).toEqual({ changed: 2, unchanged: 2, leftOut: [], leftOutRows: 0 });
    expect(app.service.sent.slice(sentBefore).sort()).toEqual(['t2', 't4']);
    const job = await app.until(jobId, 'finished');
    expect(job.tally).toMatchObject({ rows: 7, ok: 5, failed: 2 });
    expect(await whole(jobId)).toBe(
      '"n";"tok";"error"\r\n"a";"T1";""\r\nb ;T2;\r\n"c";"bad2";"service.element-refused"\r\nd;T4;\r\n' +
        'e;  SPACED;\r\n"f";bad6;service.element-refused\r\ng;T7;',
    );
  });

  it('is the source for everything after: another correction, a new list and the next start of the app', async () => {
    const { jobId } = await run();
    const listed = await list(jobId);
    await mend(jobId, listed.replace(';bad1', ';bad9'));
    expect(await list(jobId)).toContain(';bad9');
    app = await app.again();
    answer();
    await mend(jobId, (await list(jobId)).replace(';bad9', ';t9'));
    const query = { jobId, filter: 'all' as const, from: 0, count: 10 };
    const page = valueOf(await app.batch['batch.rows'](query));
    expect(page.rows[1]?.cells[0]?.text).toBe('b ');
    app = await app.again();
    expect(await whole(jobId)).toContain('\r\nb ;T9;\r\n');
  });

  it('may come back in another dialect: commas, UTF-16, other quotes, other order', async () => {
    const { jobId } = await run();
    const [header = '', ...rows] = (await list(jobId)).trimEnd().split('\r\n');
    const changed = [header, ...rows.reverse()].join('\n').replace('bad6', 'ż, "x"').replaceAll('"', '');
    const commas = changed.split('\n').map((row) =>
      row
        .split(';')
        .map((cell) => `"${cell.replaceAll('"', '""')}"`)
        .join(','),
    );
    const result = await mend(jobId, Buffer.from(`\ufeff${commas.join('\n')}`, 'utf16le'));
    expect(result).toMatchObject({ changed: 1, unchanged: 3 });
    expect(await whole(jobId)).toContain('\r\n"f";Ż, X;\r\n');
  });

  it('keeps a cell that shows only the mask of its value, and leaves out one that was changed and still has one', async () => {
    const cards = '4111111111111111\r\n5500005555555559\r\n'.replaceAll('1111\r', 'x111\r');
    const tokenize = planOf([detokenize(0, { operation: 'tokenize', into: 'replace' })], { header: false });
    app.service.answer = (_, elements) => ({
      ok: true,
      value: {
        requestId: 'r',
        elements: elements.map(({ ref, value }) =>
          value.startsWith('41')
            ? { ref, ok: true, value: cleartext('token') }
            : { ref, ok: false, code: 'service.element-refused' as const },
        ),
      },
    });
    const { jobId, tally } = await run(cards, tokenize);
    expect(tally).toMatchObject({ rows: 2, failed: 2 });
    const listed = await list(jobId);
    expect(listed).not.toContain('5500005555555559');
    expect(await mend(jobId, listed)).toMatchObject({ changed: 0, unchanged: 2 });
    const half = await mend(jobId, listed.replace(/[^,;]+(?=\r\n$)/, '4111 11•• •••• 2222'));
    expect(half).toMatchObject({ changed: 0, leftOut: [{ row: 2, code: 'mend.masked' }] });
    expect(await mend(jobId, listed.replace(/[^,;]+(?=\r\n$)/, '4111111111111111'))).toMatchObject({
      changed: 1,
    });
    expect(await list(jobId, { rows: 'all', content: 'cleartext' })).toContain('\r\ntoken');
  });

  it('says which rows it leaves out, and why', async () => {
    const { jobId } = await run();
    const listed = await list(jobId);
    const [header = '', first = '', second = ''] = listed.split('\r\n');
    const ok = first.replace(/^"?2"?/, '1');
    const twice = second.replace('bad2', 'x');
    const result = await mend(jobId, [header, first, twice, twice, ok, ''].join('\r\n'));
    expect(result).toMatchObject({
      changed: 0,
      unchanged: 1,
      leftOut: [
        { row: 1, code: 'mend.not-failed' },
        { row: 3, code: 'mend.twice' },
      ],
    });
  });

  it('is refused where it is another list, and nothing changes', async () => {
    const { jobId } = await run();
    const listed = await list(jobId);
    const before = await whole(jobId);
    for (const other of [
      source,
      listed.replace('source_row', 'row'),
      listed.replace('n;tok', 'n;token').replace('"n";"tok"', '"n";"token"'),
      listed.replace(/\r\n"?2"?;/, '\r\n99;'),
      listed.replace(/\r\n"?2"?;/, '\r\nx;'),
    ]) {
      const sourceId = await app.open(await app.write('other.csv', other));
      expect(codeOf(await takeIn(app, { jobId, sourceId }))).toBe('mend.other-list');
    }
    expect(await whole(jobId)).toBe(before);
    expect(await readdir(join(app.folder, 'jobs', jobId)).catch(() => [])).not.toContain('mended');
  });

  it('is sent after an outage and a new start, too', async () => {
    const { jobId } = await run();
    const mended = (await list(jobId)).replace(';bad1', ';t2');
    app.service.answer = () => failed('service.unreachable');
    const sourceId = await app.open(await app.write('mended.csv', mended));
    valueOf(await takeIn(app, { jobId, sourceId }));
    await app.until(jobId, 'paused');
    app = await app.again();
    answer();
    valueOf(await app.batch['batch.resume']({ jobId }));
    await app.until(jobId, 'finished');
    expect(await whole(jobId)).toContain('\r\nb ;T2;\r\n');
    const { length } = app.service.sent;
    expect(await mend(jobId, await list(jobId))).toMatchObject({ changed: 0 });
    expect(app.service.sent).toHaveLength(length);
  });

  it('is not on the disk in clear', async () => {
    const { jobId } = await run();
    await mend(jobId, (await list(jobId)).replace(';bad1', ';canary-value'));
    const names = await readdir(app.options.folder, { recursive: true });
    for (const name of names.filter((found) => found.endsWith('mended'))) {
      expect((await readFile(join(app.options.folder, name))).includes('canary-value')).toBe(false);
    }
    expect(names.filter((name) => name.endsWith('mended'))).toHaveLength(1);
  });

  it('says that the job is damaged where what was stored of it was changed', async () => {
    const { jobId } = await run();
    await mend(jobId, (await list(jobId)).replace(';bad1', ';t2'));
    const names = await readdir(app.options.folder, { recursive: true });
    const path = join(app.options.folder, names.find((name) => name.endsWith('mended')) ?? '');
    const bytes = await readFile(path);
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    await writeFile(path, bytes);
    app = await app.again();
    expect(codeOf(await app.export(jobId))).toBe('job.damaged');
  });
});
