import { randomBytes } from 'node:crypto';
import type { CDPSession, Page } from '@playwright/test';
import { expect, test } from '../../support/app-fixture.ts';
import { go, lookUp, startBuiltIn } from '../../support/page-actions.ts';
import { countInMemory, rendererPids } from '../../support/renderer-memory.ts';
import { heapStrings } from '../../support/heap-strings.ts';
import {
  detokenizeCards,
  hiddenPart,
  hide,
  randomCard,
  revealCell,
  revealLookup,
  tokenizeCards,
} from '../../support/tour.ts';
import { listenOnTheWire } from '../../support/wire-canaries.ts';

// Reading another process's memory is for root, or for a machine that lets a parent trace its children.
test.skip(process.platform !== 'linux', 'reads /proc');

/** How often each text stands in the renderers' writable memory, all of them together. */
function inMemory(texts: readonly string[]): number[] {
  const found = rendererPids().map((pid) => countInMemory(pid, texts));
  return texts.map((text) => found.reduce((sum, counts) => sum + (counts.get(text) ?? 0), 0));
}

async function collected(protocol: CDPSession): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await protocol.send('HeapProfiler.collectGarbage');
}

const none = (texts: readonly string[]): number[] => texts.map(() => 0);

test('secrets and cleartext that nobody revealed are not in the window, and what was revealed is gone again', async ({
  page,
  app,
  home,
}) => {
  test.setTimeout(240_000);
  const wire = await listenOnTheWire(app);
  const protocol = await page.context().newCDPSession(page);
  const all = await tokenizeCards(page, app, home);
  const { cards, tokens } = all;
  const [looked = '', again = '', ofBatch = ''] = cards;

  const shown: string[] = [];
  async function shownAndGone(card: string): Promise<void> {
    shown.push(card, hiddenPart(card));
    // It is on the screen, in single characters: as one piece it does not even stand there now.
    expect(await page.locator('.revealed .value > span > span').count()).toBe(card.length);
    expect.soft(inMemory(shown)).toEqual(none(shown));
    await hide(page);
    // Without waiting for the engine to tidy up, and after it did.
    expect.soft(inMemory(shown)).toEqual(none(shown));
    await collected(protocol);
    expect.soft(inMemory(shown)).toEqual(none(shown));
  }

  await go(page, 'Lookup');
  for (const [index, card] of [looked, again].entries()) {
    await lookUp(page, tokens[index] ?? '');
    await collected(protocol);
    expect(inMemory([card])).toEqual([0]);
    await revealLookup(page);
    await shownAndGone(card);
  }
  await detokenizeCards(page, home, all);
  await revealCell(page, 3);
  await shownAndGone(ofBatch);

  await page.keyboard.press('Control+l');
  await page.getByRole('button', { name: 'Unlock' }).waitFor();
  await collected(protocol);
  const onTheWire = await wire.stop();
  const secrets = [...onTheWire.keys()];
  expect(new Set(onTheWire.values())).toEqual(new Set(['apiKey', 'policyPassword', 'sessionToken']));
  expect.soft(inMemory(secrets)).toEqual(none(secrets));
  expect.soft(inMemory(cards)).toEqual(none(cards));

  await page.getByRole('button', { name: 'Unlock' }).click();
  await go(page, 'Lookup');
  await lookUp(page, tokens[0] ?? '');
  const strings = await heapStrings(protocol);
  const held = (text: string): boolean => strings.some((string) => string.includes(text));
  expect(held(tokens[0] ?? '')).toBe(true);
  expect([...secrets, ...cards].filter(held)).toEqual([]);

  // The controls: the scan finds what is on the screen, and a revealed card once a script has joined its characters.
  expect(inMemory([tokens[0] ?? ''])[0]).toBeGreaterThan(0);
  await revealLookup(page);
  expect(await page.locator('.revealed .value').textContent()).toBe(looked);
  expect(inMemory([looked])[0]).toBeGreaterThan(0);
});

/** Through the browser process, a key at a time, as a keyboard would: no message of the page's own has the text. */
async function typeSecret(page: Page, text: string): Promise<void> {
  const protocol = await page.context().newCDPSession(page);
  for (const character of text) {
    await protocol.send('Input.dispatchKeyEvent', { type: 'keyDown', text: character, key: character });
    await protocol.send('Input.dispatchKeyEvent', { type: 'keyUp', key: character });
  }
  await protocol.detach();
}

test('a secret that was typed is gone from the window once it is stored', async ({ page }) => {
  test.setTimeout(180_000);
  const protocol = await page.context().newCDPSession(page);
  await startBuiltIn(page);
  await go(page, 'Connections');
  await page.getByRole('button', { name: 'Add a connection' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Elsewhere');
  await page.getByLabel('Base URL').fill('https://service.invalid/');
  await page.getByRole('button', { name: 'Next: Access' }).click();
  await page.getByLabel('Policy name').fill('agent');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Add definition' }).click();
  await page.getByLabel('Service name').fill('card-number');
  await page.getByLabel('Shown as').fill('Card number');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const field = page.getByLabel('API key', { exact: true });
  await field.click();

  const secret = randomBytes(24).toString('hex');
  const parts = [secret, secret.slice(0, 24), secret.slice(-24)];
  await expect(field).toBeFocused();
  await typeSecret(page, secret);
  await expect(field).toHaveValue('•'.repeat(secret.length));
  expect(inMemory([secret])[0]).toBeGreaterThan(0);
  await page.keyboard.press('Enter');
  await page.getByText(/^In (the keychain|memory until the app closes)/).waitFor();
  await collected(protocol);
  expect.soft(inMemory(parts)).toEqual(none(parts));
  await page.keyboard.press('Control+z');
  await expect(page.getByRole('textbox', { name: 'API key', exact: true })).toHaveCount(0);
  await go(page, 'Lookup');
  await collected(protocol);
  expect(inMemory(parts)).toEqual(none(parts));
});

/** Types a secret, makes sure that it is there, has it sent, and makes sure that none of its parts is left. */
async function typedAndGone(page: Page, parts: readonly string[], send: () => Promise<void>): Promise<void> {
  const [secret = ''] = parts;
  await typeSecret(page, secret);
  expect(inMemory([secret])[0]).toBeGreaterThan(0);
  await send();
  const protocol = await page.context().newCDPSession(page);
  await collected(protocol);
  await protocol.detach();
  expect.soft(inMemory(parts)).toEqual(none(parts));
}

test('a value that was typed to be tokenized is gone once it is sent, whether it was shown or not', async ({
  page,
}) => {
  test.setTimeout(180_000);
  await startBuiltIn(page);
  await page.getByText('Tokenize a value').click();
  const field = page.getByLabel('Value in clear');
  const tokenized = async (): Promise<void> => {
    await page.keyboard.press('Enter');
    await page.getByText('New token, tokenized').waitFor();
    expect(await field.inputValue()).toBe('');
  };
  await field.click();
  const hidden = randomCard();
  await typedAndGone(page, [hidden, hiddenPart(hidden)], tokenized);

  await page.getByRole('button', { name: 'Show what is typed' }).click();
  const shown = randomCard();
  await typedAndGone(page, [shown, hiddenPart(shown)], async () => {
    const amber = page.getByRole('group', { name: 'Typed, in clear' });
    expect(await amber.locator('.value > span > span').count()).toBe(shown.length);
    // Nothing but the numbers that were typed holds it as one piece.
    expect.soft(inMemory([shown])[0]).toBe(1);
    await tokenized();
  });
});

test('the passphrase of the lock and that of an export are gone once they are sent', async ({
  page,
  app,
  home,
}) => {
  test.setTimeout(180_000);
  const passphrase = (): string[] => {
    const whole = randomBytes(24).toString('hex');
    return [whole, whole.slice(0, 24), whole.slice(-24)];
  };
  const ofLock = passphrase();
  await tokenizeCards(page, app, home);
  const exported = page.getByRole('status', { name: 'Exported' });
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByRole('button', { name: 'Format…' }).click();
  await page.getByText('Encrypt with a passphrase').click();
  await page.getByLabel('Passphrase, at least 8 characters').click();
  await typedAndGone(page, passphrase(), async () => {
    await page.getByRole('button', { name: /^Export [\d]/ }).click();
    await exported.getByText('.age', { exact: false }).waitFor();
  });

  await go(page, 'Settings');
  await page.getByLabel('New passphrase', { exact: true }).click();
  await typedAndGone(page, ofLock, async () => {
    await page.getByLabel('Repeat new passphrase').click();
    await page.keyboard.type(ofLock[0] ?? '');
    await page.getByRole('button', { name: 'Set passphrase' }).click();
    await page.getByText('Passphrase set.').waitFor();
  });
  await page.keyboard.press('Control+l');
  await page.getByRole('button', { name: 'Unlock' }).waitFor();
  await page.getByLabel('Passphrase').click();
  await typedAndGone(page, ofLock, async () => {
    await page.keyboard.press('Enter');
    await page.getByRole('navigation', { name: 'Places' }).waitFor();
  });
});
