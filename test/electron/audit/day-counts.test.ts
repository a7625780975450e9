import { expect, test } from 'vitest';
import { readDayCounts } from '../../../electron/audit/day-counts.ts';
import { logFolder, testKey, value } from '../../support/audit-folder.ts';

test('a day begins with its first instant', async () => {
  const log = logFolder();
  const since = new Date('2026-03-01T00:00:00.000Z');
  const next = new Date('2026-03-02T00:00:00.000Z');
  const instants = [since.getTime() - 1, since.getTime(), next.getTime() - 1];
  let at = 0;
  const audit = await log.open({ now: () => new Date(instants[at] ?? 0) });
  for (; at < instants.length; at++)
    value(await audit.begin({ action: 'Reveal', counted: { reveals: 10 ** at } }));
  await audit.close();
  const ofDay = (begin: Date) => readDayCounts({ folder: log.folder, key: testKey, since: begin, now: next });
  expect((await ofDay(since)).counted.reveals).toBe(110);
  expect((await ofDay(next)).counted.reveals).toBe(0);
});
