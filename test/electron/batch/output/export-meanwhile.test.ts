import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import {
  detokenize,
  fakeService,
  openApp,
  plainExport,
  planOf,
  valueOf,
} from '../../../support/batch-app.ts';

const grounds = { reason: 'Fraud review', caseReference: 'C-1' };

it('is of the results as they were when it began, whatever a second try makes of them meanwhile', async () => {
  const service = fakeService(50);
  let refuses = true;
  service.answer = (_, elements) => ({
    ok: true,
    value: {
      requestId: 'r',
      elements: elements.map(({ ref, value }) =>
        refuses && value.endsWith('0')
          ? { ref, ok: false, code: 'service.element-refused' as const }
          : { ref, ok: true, value: cleartext(`<${value}>`) },
      ),
    },
  });
  const app = await openApp({ service });
  try {
    const rows = Array.from({ length: 20_000 }, (_, n) => `D-${n},tok${n},${'y'.repeat(40)}\n`);
    const sourceId = await app.open(await app.write('in.csv', `id,tok,x\n${rows.join('')}`));
    const job = await app.run(sourceId, planOf([detokenize(1, { definition: 'text' })]));
    refuses = false;
    const retries: Promise<unknown>[] = [];
    app.onExporting = () => {
      if (retries.length > 0) return;
      retries.push(app.batch['batch.retry']({ jobId: job.jobId, code: 'service.element-refused', grounds }));
    };
    const exported = await app.batch['batch.export']({ ...plainExport, safety: 'source', jobId: job.jobId });
    expect(await Promise.all(retries)).toMatchObject([{ ok: true }]);
    const file = await readFile(join(app.folder, valueOf(exported)?.name ?? ''), 'latin1');
    expect(file.match(/,<tok\d+>,/g)).toHaveLength(18_000);
    expect(file.match(/,tok\d+,/g)).toHaveLength(2_000);
    expect(valueOf(exported)?.tally).toMatchObject({ ok: 18_000, failed: 2_000 });
    const notes = app.audit.ends.map(({ note }) => note);
    expect(notes).toContain('20000 = 18000 succeeded + 2000 failed');
    const end = await app.until(job.jobId, 'finished', 'paused', 'failed');
    expect(end.tally).toMatchObject({ ok: 20_000, failed: 0 });
  } finally {
    await app.close();
  }
});
