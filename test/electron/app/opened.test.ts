import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseLink } from '../../../electron/app/opened.ts';
import type { Opening, Platform } from '../../../electron/platform/platform.ts';
import { valueOf } from '../../support/batch-app.ts';
import { obscuredOf } from '../../support/obscured-text.ts';
import { openWholeApp } from '../../support/whole-app.ts';

describe('a link', () => {
  test.each([
    ['tokendesk://case/D-20931', { kind: 'case', caseReference: 'D-20931' }],
    ['tokendesk://case/D-20931/', { kind: 'case', caseReference: 'D-20931' }],
    ['TOKENDESK://Case/D%2F1%20a', { kind: 'case', caseReference: 'D/1 a' }],
    ['tokendesk://case/R%C3%BCck', { kind: 'case', caseReference: 'Rück' }],
    ['tokendesk://token/4111117309211111', { kind: 'token', token: '4111117309211111' }],
    ['tokendesk://token/a%40b.example', { kind: 'token', token: 'a@b.example' }],
  ])('%s opens what it names', (address, opened) => {
    expect(parseLink(address)).toEqual(opened);
  });

  test.each([
    'tokendesk://case/',
    'tokendesk://case',
    'tokendesk:case/D-1',
    'tokendesk://reveal/D-1',
    'tokendesk://case/D-1/reveal',
    'tokendesk://case/D-1?reason=x',
    'tokendesk://case/D-1#reveal',
    'tokendesk://case:80/D-1',
    'tokendesk://ada@case/D-1',
    'tokendesk://case/D 1',
    'tokendesk://case/%20D-1',
    'tokendesk://case/D%0A1',
    'tokendesk://case/D%E2%80%AE1',
    'tokendesk://case/D%00',
    'tokendesk://case/%FF',
    'tokendesk://case/%4',
    'tokendesk://case/%ED%A0%80',
    'tokendesk://case/../../D-1',
    `tokendesk://case/${'D'.repeat(101)}`,
    `tokendesk://token/${'4'.repeat(201)}`,
    'tokendesk://token/4111" --no-sandbox',
    'tokendesk://token/<script>',
    'tokendesk://token/4111%0A',
    'tokendesk://token/4111%E2%80%AE',
    'tokendesk://token/%204111',
    'xtokendesk://case/D-1',
    '\ntokendesk://case/D-1',
    'tokendesk://case/D-1\n',
    'https://case/D-1',
  ])('%j is nothing that can be opened', (address) => {
    expect(parseLink(address)).toBeNull();
  });
});

async function opened() {
  let ask: (opening: Opening) => void = () => undefined;
  const events: string[] = [];
  const platform: Partial<Platform> = {
    onOpen: (listener) => ((ask = listener), () => undefined),
    send: (event) => void events.push(event),
  };
  const app = await openWholeApp({ platform });
  onTestFinished(() => app.close());
  return { app, events, open: (opening: Opening) => ask(opening) };
}

test('the window takes what the system asked to open, once, and nothing is done with it', async () => {
  const { app, events, open } = await opened();
  expect(valueOf(await app.ask('app.takeOpened', {}))).toBeNull();
  open({ kind: 'link', address: 'tokendesk://token/4111' });
  expect(events).toContain('app.opened');
  expect(valueOf(await app.ask('app.takeOpened', {}))).toEqual({ kind: 'token', token: '4111' });
  expect(valueOf(await app.ask('app.takeOpened', {}))).toBeNull();
  // Neither a line of an act nor a lookup.
  expect(valueOf(await app.ask('lookup.recent', {}))).toEqual([]);
  expect(fs.existsSync(path.join(app.home, 'audit', 'audit-000001.jsonl'))).toBe(false);
});

test('a link that is not one of ours is a sentence', async () => {
  const { app, open } = await opened();
  open({ kind: 'link', address: 'tokendesk://reveal/4111' });
  expect(await app.ask('app.takeOpened', {})).toEqual({ ok: false, failure: { code: 'link.refused' } });
});

test('a file is opened as one that was dropped', async () => {
  const { app, open } = await opened();
  const file = path.join(app.home, 'disputes.csv');
  fs.writeFileSync(file, 'card\n4111\n');
  open({ kind: 'file', reference: file, others: 2 });
  expect(valueOf(await app.ask('app.takeOpened', {}))).toMatchObject({
    kind: 'file',
    source: { name: 'disputes.csv' },
    others: 2,
  });
  open({ kind: 'batch', jobId: 'job-1' });
  expect(valueOf(await app.ask('app.takeOpened', {}))).toEqual({ kind: 'batch', jobId: 'job-1' });
  open({ kind: 'file', reference: path.join(app.home, 'gone.csv'), others: 0 });
  expect(await app.ask('app.takeOpened', {})).toMatchObject({ ok: false, failure: { code: 'file.gone' } });
});

test('while the app is locked it waits', async () => {
  const { app, events, open } = await opened();
  const none = { xorKey: 'abcd', obscured: '' };
  valueOf(await app.ask('lock.setPassphrase', { current: none, next: obscuredOf('correct horse') }));
  valueOf(await app.ask('lock.now', {}));
  open({ kind: 'link', address: 'tokendesk://case/D-1' });
  expect(await app.ask('app.takeOpened', {})).toEqual({ ok: false, failure: { code: 'app.locked' } });
  expect(events).not.toContain('app.opened');
  valueOf(await app.ask('lock.unlock', { passphrase: obscuredOf('correct horse') }));
  expect(valueOf(await app.ask('app.takeOpened', {}))).toEqual({ kind: 'case', caseReference: 'D-1' });
});
