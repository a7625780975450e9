import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import { openDisclosureFile } from '../../../electron/privacy/disclosure-file.ts';
import { createDisclosures, defaultLimits, type Disclosures } from '../../../electron/privacy/disclosures.ts';
import { codeOf, noLog, valueOf } from '../../support/batch-app.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const noon = new Date(2026, 10, 22, 12).getTime();

/** Opened as often as one likes over the same file. */
function setUp(limits = defaultLimits) {
  const person = {
    now: noon,
    file: path.join(tempFolder(), 'disclosures.json'),
    async open(over: Partial<Parameters<typeof openDisclosureFile>[1]> = {}): Promise<Disclosures> {
      return createDisclosures({
        record: await openDisclosureFile(person.file, { earlier: null, log: noLog, ...over }),
        key: () => Promise.resolve(done(new Uint8Array(32).fill(3))),
        clock: { now: () => person.now },
        limits,
      });
    },
  };
  return person;
}

const none = { reveals: 0, copies: 0, exportedRows: 0, matchAnswers: 0, expressions: 0 };
const expression = 'aaaaaaaaaaaaaaaa';

describe('disclosures', () => {
  it('add up over restarts, by day', async () => {
    const person = setUp();
    const opened = () => person.open();
    expect((await opened()).today()).toEqual({ day: '2026-11-22', ...none, limits: defaultLimits });
    for (let n = 0; n < 2; n++) {
      valueOf(await (await opened()).count('reveals', 1));
      valueOf(await (await opened()).countMatch([expression], 70));
    }
    valueOf(await (await opened()).count('copies', 1));
    valueOf(await (await opened()).count('exportedRows', 500));
    const figures = { reveals: 2, copies: 1, exportedRows: 500, matchAnswers: 140, expressions: 1 };
    expect((await opened()).today()).toMatchObject({ day: '2026-11-22', ...figures });
    expect(fs.statSync(person.file).mode & 0o777).toBe(0o600);
    person.now += 12 * 3_600_000;
    expect((await opened()).today()).toMatchObject({ day: '2026-11-23', ...none });
    person.now -= 24 * 3_600_000;
    valueOf(await (await opened()).count('reveals', 1));
    person.now = noon;
    expect((await opened()).today()).toMatchObject({ day: '2026-11-22', reveals: 3 });
  });

  it('stop at a limit, and say when the next day begins', async () => {
    const person = setUp({ ...defaultLimits, reveals: 2, exportedRows: 100, matchAnswers: 50 });
    const disclosures = await person.open();
    expect(codeOf(await disclosures.count('reveals', 2))).toBe('ok');
    expect(await disclosures.count('reveals', 1)).toEqual(
      failed('disclosure.limit', { subject: 'reveals', retryAfterMs: 12 * 3_600_000 }),
    );
    expect(codeOf(await disclosures.count('exportedRows', 101))).toBe('disclosure.limit');
    expect(codeOf(await disclosures.count('exportedRows', 100))).toBe('ok');
    expect(codeOf(await disclosures.count('exportedRows', 0))).toBe('ok');
    expect(await disclosures.countMatch([expression], 51)).toMatchObject({
      failure: { subject: 'matchAnswers' },
    });
    // What was refused is not counted.
    const counted = { reveals: 2, exportedRows: 100, expressions: 0 };
    expect(disclosures.today()).toMatchObject(counted);
    expect((await person.open()).today()).toMatchObject(counted);
  });

  it('at once are each counted, and no more than the limit', async () => {
    const person = setUp({ ...defaultLimits, reveals: 3 });
    const disclosures = await person.open();
    const outcomes = await Promise.all([
      ...[1, 2, 3, 4, 5].map(() => disclosures.count('reveals', 1)),
      disclosures.countMatch([expression], 7),
    ]);
    expect(outcomes.map(codeOf)).toEqual([
      ...['ok', 'ok', 'ok', 'disclosure.limit', 'disclosure.limit'],
      'ok',
    ]);
    expect((await person.open()).today()).toMatchObject({ reveals: 3, matchAnswers: 7, expressions: 1 });
  });

  it('that can not be stored are refused and not counted', async () => {
    const person = setUp();
    const disclosures = await person.open();
    fs.mkdirSync(person.file);
    expect(codeOf(await disclosures.count('reveals', 1))).toBe('file.unwritable');
    expect(codeOf(await disclosures.countMatch([expression], 1))).toBe('file.unwritable');
    expect(disclosures.today()).toMatchObject(none);
    fs.rmdirSync(person.file);
    expect(codeOf(await disclosures.count('reveals', 1))).toBe('ok');
  });

  it('go on from where an earlier version had them', async () => {
    const person = setUp();
    const earlier = { ...none, day: '2026-11-22', reveals: 5, expressions: [expression] };
    valueOf(await (await person.open({ earlier })).count('reveals', 1));
    const disclosures = await person.open({ earlier });
    expect(disclosures.today()).toMatchObject({ reveals: 6, expressions: 1 });
  });

  it.each(['', '{"day":', '{"day":"2026-11-22","reveals":-1}', '[]'])(
    'begin anew where their file holds %j, which is logged',
    async (content) => {
      const person = setUp();
      fs.writeFileSync(person.file, content);
      const bugs: string[] = [];
      const disclosures = await person.open({ log: { bug: (place) => void bugs.push(place) } });
      expect(bugs).toEqual(['disclosures']);
      valueOf(await disclosures.count('reveals', 1));
      expect((await person.open()).today()).toMatchObject({ ...none, reveals: 1 });
    },
  );

  it('have a fingerprint of an expression, the same after a restart, and not its plain hash', async () => {
    const person = setUp();
    const print = async (pattern: string) => valueOf(await (await person.open()).fingerprint(pattern));
    expect(await print('^4')).toMatch(/^[0-9a-f]{16}$/);
    expect(await print('^4')).toBe(await print('^4'));
    expect(await print('^4')).not.toBe(await print('^5'));
  });
});
