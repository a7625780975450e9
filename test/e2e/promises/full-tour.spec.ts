import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Buffer } from 'node:buffer';
import keytar from 'keytar';
import { keychainEntry } from '../../../electron/settings/home-id.ts';
import { expect, jsonWebToken, test } from '../../support/app-fixture.ts';
import { exportRows, go, lookUp } from '../../support/page-actions.ts';
import { detokenizeCards, hide, revealCell, revealLookup, tokenizeCards } from '../../support/tour.ts';
import { listenOnTheWire } from '../../support/wire-canaries.ts';

interface Found {
  readonly file: string;
  readonly what: string;
}

/** Each way in which a text may stand in a file. Base64 has three, one for each place it may begin at. */
function spellings(text: string): Buffer[] {
  const bytes = Buffer.from(text, 'utf8');
  const base64 = [0, 1, 2].map((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // The first characters depend on what comes before, the last on what comes after.
    return whole.slice(Math.ceil((offset * 4) / 3), whole.length - 4);
  });
  const texts = [
    text,
    ...base64,
    ...base64.map((coded) => coded.replaceAll('+', '-').replaceAll('/', '_')),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(text),
    bytes.toString('hex').replaceAll(/../g, '%$&'),
  ];
  return [
    ...texts.map((spelling) => Buffer.from(spelling, 'utf8')),
    Buffer.from(text, 'utf16le'),
    Buffer.from(text, 'utf16le').swap16(),
  ];
}

function filesIn(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) => {
    return entry.isFile() ? [path.join(entry.parentPath, entry.name)] : [];
  });
}

function search(files: readonly string[], canaries: ReadonlyMap<string, string>): Found[] {
  const needles = [...canaries].map(([text, what]) => ({ what, spelt: spellings(text) }));
  return files.flatMap((file) => {
    let bytes: Buffer;
    try {
      bytes = fs.readFileSync(file);
    } catch {
      return [];
    }
    return needles
      .filter(({ spelt }) => spelt.some((needle) => bytes.includes(needle)))
      .map(({ what }) => ({ file: path.basename(file), what }));
  });
}

/** Files of the test's tool, in folders that it makes and removes for every test that runs. */
const filesOfTheTool = (): string[] =>
  fs
    .readdirSync(os.tmpdir(), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name.startsWith('playwright'))
    .flatMap((entry) => {
      try {
        return filesIn(path.join(os.tmpdir(), entry.name));
      } catch {
        return [];
      }
    });

test('no message to the window, no settings file, no log and no other file holds a secret or cleartext', async ({
  page,
  app,
  home,
}) => {
  test.setTimeout(180_000);
  const wire = await listenOnTheWire(app);
  const all = await tokenizeCards(page, app, home);
  const { cards, tokens } = all;
  await go(page, 'Lookup');
  await lookUp(page, tokens[0] ?? '');
  await revealLookup(page);
  await hide(page);
  await detokenizeCards(page, home, all);
  await revealCell(page, 3);
  await hide(page);
  await exportRows(page, { content: 'Masked', written: 'Safe for Excel' });
  await go(page, 'Activity');
  await go(page, 'Settings');
  await page.keyboard.press('Control+l');
  await page.getByRole('button', { name: 'Unlock' }).click();

  const secrets = new Map(await wire.stop());
  expect(new Set(secrets.values())).toEqual(new Set(['apiKey', 'policyPassword', 'sessionToken']));
  // Keys of the app's own, such as the log's and the result store's.
  const settings = path.join(app.home, 'desk.json');
  const { keychainIndex = [] } = JSON.parse(fs.readFileSync(settings, 'utf8')) as {
    keychainIndex?: string[];
  };
  for (const account of keychainIndex) {
    const entry = keychainEntry(app.home, account);
    const secret = await keytar.getPassword('Tokendesk', entry).catch(() => null);
    expect([account, secret]).not.toEqual([account, null]);
    if (secret !== null && secret.length >= 8) secrets.set(secret, account);
  }
  const canaries = new Map([...secrets, ...cards.map((card) => [card, 'card'] as const)]);

  await test.step('messages to the window', async () => {
    const outward = await app.outward();
    expect(outward.length).toBeGreaterThan(50);
    const told = (text: string): boolean => outward.some((message) => message.includes(text));
    expect(told(tokens[0] ?? '')).toBe(true);
    expect([...canaries].filter(([text]) => told(text)).map(([, what]) => what)).toEqual([]);
    // Not a path either, of any file that was chosen or written.
    // The window is told one folder: that of a file it has just exported, to show it.
    const withoutExport = outward.map((message) =>
      message.replace(/("exportId".*?"folder":)"[^"]*"/, '$1""'),
    );
    expect(withoutExport.filter((message) => message.includes(home))).toEqual([]);
    expect(outward.filter((message) => jsonWebToken.test(message))).toEqual([]);
  });

  await test.step('the log', () => {
    const log = fs.readFileSync(path.join(app.home, 'logs', 'tokendesk.log'), 'utf8');
    // Nothing went wrong on the way, and no line holds a value, its token or a path. A computer without a desktop
    // can't tell when its screen is locked.
    const lines = log.trim().split('\n');
    const events = lines.map((line) => (JSON.parse(line) as { event?: string }).event);
    expect(events.filter((event) => event !== 'screen lock not watched')).toEqual(['app opened']);
    const values = [...canaries.keys(), ...tokens, home, 'D-1', 'Chargeback'];
    expect(values.filter((value) => log.includes(value))).toEqual([]);
  });

  await test.step('files', async () => {
    const own = filesIn(app.home);
    const names = own.map((file) => path.relative(app.home, file));
    expect(names).toContain('desk.json');
    expect(names.some((name) => name.startsWith('audit'))).toBe(true);
    const others = [...filesIn(path.join(home, 'tmp')), ...filesOfTheTool()];
    expect(others.some((file) => file.includes('tokendesk-'))).toBe(true);
    expect(search([...own, ...others], canaries)).toEqual([]);
    // The control: the same search finds the cards in the file they came from, and one coded in each way.
    const source = path.join(home, 'cards.csv');
    expect(search([source], canaries)).toHaveLength(cards.length);
    const coded = path.join(home, 'coded');
    const [card = ''] = cards;
    const carry = ['', 'x', 'xy'].map((before) => Buffer.from(`${before}${card}--`).toString('base64'));
    for (const text of [...carry, Buffer.from(card).toString('hex'), Buffer.from(card, 'utf16le')]) {
      fs.writeFileSync(coded, text);
      expect(search([coded], canaries)).toEqual([{ file: 'coded', what: 'card' }]);
    }

    await app.close();
    const after = filesIn(app.home);
    expect(search(after, canaries)).toEqual([]);
    const open = [app.home, ...fs.readdirSync(app.home, { recursive: true, encoding: 'utf8' })]
      .map((name) => path.resolve(app.home, name))
      .filter((place) => (fs.lstatSync(place).mode & 0o077) !== 0);
    expect(open.map((place) => path.relative(app.home, place))).toEqual([]);
  });
});
