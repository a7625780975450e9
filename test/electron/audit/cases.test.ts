import fs from 'node:fs';
import { expect, test } from 'vitest';
import { logFolder, value } from '../../support/audit-folder.ts';

test('the cases of late are listed by their newest act, the newest first', async () => {
  const log = logFolder();
  // Small files: the cases lie in several of them.
  const audit = await log.open({ rotateBytes: 2_000 });
  const act = async (action: string, caseReference?: string) =>
    value(await audit.begin({ action, ...(caseReference !== undefined && { caseReference }) }))({ ok: true });
  await act('Reveal', 'D-1');
  await act('Lock');
  await act('Copy', 'a "quoted" case');
  await act('GetMasked', '');
  await act('GetMasked', 'D-1');
  await act('Export', 'D-3');
  const cases = await audit.cases(10);
  expect(cases.map(({ caseReference, action, phase }) => [caseReference, action, phase])).toEqual([
    ['D-3', 'Export', 'ok'],
    ['D-1', 'GetMasked', 'ok'],
    ['a "quoted" case', 'Copy', 'ok'],
  ]);
  expect(log.files().length).toBeGreaterThan(1);
  expect((await audit.cases(2)).map(({ caseReference }) => caseReference)).toEqual(['D-3', 'D-1']);
});

test('a card number given as a case is listed masked, as the log has it', async () => {
  const log = logFolder();
  const audit = await log.open();
  value(await audit.begin({ action: 'Reveal', caseReference: '4111111111111111' }))({ ok: true });
  expect((await audit.cases(5)).map(({ caseReference }) => caseReference)).toEqual(['411111••••••1111']);
});

test('a line that somebody wrote into the log is no case', async () => {
  const log = logFolder();
  const audit = await log.open();
  value(await audit.begin({ action: 'Reveal', caseReference: 'D-1' }))({ ok: true });
  await audit.cases(1);
  const [, line = ''] = fs.readFileSync(log.file(1), 'utf8').split('\n');
  fs.appendFileSync(log.file(1), `${line.replaceAll('D-1', 'D-666')}\n`);
  expect((await audit.cases(5)).map(({ caseReference }) => caseReference)).toEqual(['D-1']);
});
