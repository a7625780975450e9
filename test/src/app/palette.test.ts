import { describe, expect, it } from 'vitest';
import { commandNames, commands } from '../../../electron/contract/commands.ts';
import { pages, type PageId } from '../../../electron/contract/pages.ts';
import { listCommands } from '../../../src/app/palette.ts';
import { createControllers, titleOf } from '../../../src/app/pages.ts';
import { LookupField } from '../../../src/features/lookup/lookup-field.svelte.ts';
import * as data from '../support/fake-data.ts';
import { openApp } from '../support/open-app.ts';

const pan = '4111111111111111';

async function open() {
  const { app, api, fake } = await openApp({ lookups: structuredClone(data.lookups) });
  const went: PageId[] = [];
  const opened: string[] = [];
  const go = (page: PageId) => void went.push(page);
  const controllers = createControllers(app, api, go);
  await controllers.lookup.reload();
  const { lookup } = controllers;
  const field = new LookupField(app, (text) => lookup.cases.find(text, lookup.recent));
  const list = () =>
    listCommands({
      app,
      controllers,
      go,
      run: {
        openFile: () => undefined,
        inventory: () => undefined,
        compare: () => undefined,
        lock: () => undefined,
        help: () => undefined,
        guide: () => undefined,
      },
      guide: {
        parts: [{ id: 'the-case', title: 'The case', text: 'the case disputes a chargeback' }],
        open: (part) => void opened.push(part),
      },
      field,
    });
  const sent = (name: string) => fake.seen.filter((call) => call.name === name);
  return { app, went, opened, lookup, field, list, sent };
}

describe('what is listed', () => {
  it('is every command while nothing is typed, recent cases first', async () => {
    const { list } = await open();
    const labels = list().map(({ label }) => label);
    expect(labels[0]).toBe('Open case D-20931');
    for (const label of ['Go to Batch', 'Use policy analyst', 'Lock', 'Tokenize a value'])
      expect(labels).toContain(label);
    expect(labels).not.toContain('Use policy dispute-desk');
    expect(new Set(list().map(({ id }) => id)).size).toBe(list().length);
  });

  it.each([
    ['help', 'Show shortcuts'],
    ['manual', 'Open the user’s guide'],
    ['export', 'Go to Batch'],
    ['open file', 'Open a file'],
    ['import', 'Go to Settings'],
    ['dark', 'Go to Settings'],
    ['diagnostics', 'Go to Settings'],
    ['evidence', 'Go to Reports'],
  ])('finds what “%s” means before it offers to send it', async (text, label) => {
    const { field, list } = await open();
    field.set(text);
    expect(list()[0]?.label).toBe(label);
  });

  it.each<[string, string]>([
    ...pages.map(({ label, synonyms }): [string, string] => [`Go to ${label}`, synonyms]),
    ...commandNames.flatMap((name): [string, string][] => {
      const command = commands[name];
      return 'palette' in command ? [[command.palette, command.synonyms]] : [];
    }),
  ])('has %s for each of its synonyms', async (label, synonyms) => {
    const { field, list } = await open();
    expect(synonyms).not.toBe('');
    for (const word of synonyms.split(' ')) {
      field.set(word);
      expect(
        list().map((command) => command.label),
        word,
      ).toContain(label);
    }
  });

  it('is a part of the guide that has the words, before they are offered as a token', async () => {
    const { field, list, opened } = await open();
    field.set('chargeback');
    expect(list().map(({ label }) => label)).toEqual([
      'Guide: The case',
      'Look up “chargeback” as Free text',
    ]);
    list()[0]?.run();
    expect(opened).toEqual(['the-case']);
  });

  it('is a command before a token, where the words are one', async () => {
    const { field, list } = await open();
    field.set('lock');
    expect(list().map(({ label }) => label)).toEqual(['Lock', 'Look up “lock” as Free text']);
    field.set('qwzzz');
    expect(list()).toMatchObject([{ label: 'Look up “qwzzz” as Free text', isUncertain: true }]);
    field.set('qwz1n@example.org');
    expect(list()[0]).toMatchObject({ label: 'Look up this token', note: 'E-mail address, detected' });
  });
});

describe('what is pasted', () => {
  it('is looked up as a token, on Lookup', async () => {
    const { went, lookup, field, list } = await open();
    field.paste('4111 1173 0921 1111');
    await list()[0]?.run();
    expect(went).toEqual(['lookup']);
    expect([lookup.current?.token, lookup.wantsFocus]).toEqual(['4111117309211111', true]);
  });

  it('is never sent as a token when it is a card number, and can be tokenized', async () => {
    const { lookup, field, list, sent } = await open();
    field.paste(pan);
    expect(list().map(({ label }) => label)).toEqual(['Tokenize this card number']);
    await list()[0]?.run();
    expect(sent('lookup.mask')).toEqual([]);
    expect(JSON.stringify(sent('lookup.tokenize'))).not.toContain(pan);
    expect(lookup.current?.kind).toBe('tokenized');
  });

  it('is not sent when it can hardly be a token: Lookup asks first', async () => {
    const { lookup, field, list, sent } = await open();
    field.paste('41111173092111114111117309211111');
    await list()
      .find(({ id }) => id === 'token')
      ?.run();
    expect(sent('lookup.mask')).toEqual([]);
    expect([lookup.field.text, lookup.field.flaw?.isCertain]).toEqual([
      '41111173092111114111117309211111',
      false,
    ]);
  });

  it('becomes a batch when it has several lines, and a case when it names one', async () => {
    const { app, went, field, list, sent } = await open();
    field.paste('1\n2\n3\n');
    expect(list().map(({ label }) => label)).toEqual(['Create a batch of 3 lines']);
    await list()[0]?.run();
    expect(sent('batch.paste')).toHaveLength(1);
    expect(went.at(-1)).toBe('batch');
    field.pasted = null;
    field.paste('d-20917');
    await list()[0]?.run();
    expect(app.caseReference).toBe('D-20917');
  });
});

describe('the title of the window', () => {
  it('is page, connection and environment; of a locked app neither', () => {
    expect(titleOf('batch', { name: 'Acme', environment: 'production' })).toBe(
      'Batch – Acme – PRODUCTION – Tokendesk',
    );
    expect(titleOf('lookup', null)).toBe('Lookup – Tokendesk');
    expect(titleOf(null, null)).toBe('Tokendesk');
  });
});
