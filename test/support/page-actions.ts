import type { Locator, Page } from 'playwright-core';

/*
 * What a person does in the window, by the names they see. Used by the end-to-end specs and by the guided demo; waits
 * come from Playwright's own actions, expectations are the caller's.
 */

/** First run, one click. */
export async function startBuiltIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Start the built-in service' }).click();
  await page.getByRole('textbox', { name: 'Token' }).waitFor();
}

/** Picks an entry of one of the app's own selects, found by its label. */
export async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: new RegExp(`^${label}(:|$)`) }).click();
  const chosen = page.getByRole('option', { name: new RegExp(`^${option}\\b`) });
  await chosen.click();
  // What is typed before the list is closed would be there before the choice.
  await chosen.waitFor({ state: 'hidden' });
}

/** As a person pastes: the test's own tool would put several lines into the input as one. */
export async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(event);
  })()`);
}

/** Whether anything has the focus; a page's body has it where nothing has. */
export const hasFocus = (page: Page): Promise<boolean> =>
  page.evaluate('document.activeElement !== document.body');

export async function go(page: Page, place: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Places' }).getByRole('button', { name: place }).click();
  // The code of a page is loaded when it is first gone to: until then there is none.
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
}

/** Tokenizes one value; the token, without the grouping that is only drawn. */
export async function tokenize(page: Page, cleartext: string): Promise<string> {
  await page.getByText('Tokenize a value').click();
  await page.getByLabel('Value in clear').fill(cleartext);
  await page.getByRole('button', { name: 'Tokenize', exact: true }).click();
  await page.getByText('New token, tokenized').waitFor();
  return (await page.locator('.token').innerText()).replaceAll(/\s/g, '');
}

export async function lookUp(page: Page, token: string): Promise<void> {
  await page.getByText('Look up a token').click();
  await page.getByRole('textbox', { name: 'Token' }).fill(token);
  await page.keyboard.press('Enter');
  await page.getByText('masked by the service').waitFor();
}

/** Says why, in the panel that asks; what is asked of one value is done with it. */
export async function giveReason(
  panel: Locator,
  caseReference: string,
  reason = 'Chargeback response',
): Promise<void> {
  await panel.getByLabel('Case').fill(caseReference);
  await panel.getByRole('button', { name: reason }).click();
}

/** Opens the panel, fills in the case, chooses a reason, which shows. */
export async function reveal(page: Page, caseReference: string): Promise<void> {
  await page.getByRole('button', { name: 'Reveal', exact: true }).click();
  await giveReason(page.getByRole('region', { name: 'Reveal', exact: true }), caseReference);
  await page.getByRole('group', { name: 'In clear' }).waitFor();
}

/** The file dialog is the system's, which no test tool reaches: says beforehand what will be chosen. */
export const systemDialogs = new WeakMap<Page, (...files: string[]) => Promise<void>>();

/** Chooses a file the way the system's dialog would give it. */
export async function chooseFile(page: Page, file: string, button = 'Choose a file'): Promise<void> {
  await systemDialogs.get(page)?.(file);
  await page.getByRole('button', { name: button }).click();
}

/** Says what is done with a column. */
export async function map(page: Page, column: string, act: string, definition: string): Promise<void> {
  await choose(page, column, act);
  const line = page.getByRole('group', { name: `${column}: ${act}` });
  await line.getByRole('combobox', { name: /^(From definition|Definition)/ }).click();
  await page.getByRole('option', { name: new RegExp(`^${definition}\\b`) }).click();
}

export async function run(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Run on/ }).click();
}

/** Gives the reason that an expression of one's own asks for before it is sent. */
export async function giveMatchReason(page: Page, caseReference: string): Promise<void> {
  const panel = page.getByRole('region', { name: 'Reason for the expression' });
  await giveReason(panel, caseReference);
  await panel.getByRole('button', { name: /^(Test|Run)/ }).click();
}

/** Waits for the sum of a finished batch and reads its numbers. */
export async function readSum(
  page: Page,
): Promise<Record<'rows' | 'ok' | 'failed' | 'unmatched' | 'blank', number>> {
  const text = await page.getByRole('status', { name: 'Sum' }).innerText({ timeout: 120_000 });
  const before = (words: string): number =>
    Number(new RegExp(`([\\d,]+) (?:${words})`).exec(text)?.[1]?.replaceAll(',', '') ?? 0);
  return {
    rows: before('rows?'),
    ok: before('succeeded|match'),
    failed: before('failed'),
    unmatched: before('not matched'),
    blank: before('blank'),
  };
}

export interface ExportWish {
  /** Absent where the job leaves no choice. */
  readonly content?: 'Masked' | 'Tokens' | 'With cleartext';
  readonly written: 'As the source' | 'Safe for Excel' | 'Exact values' | 'Excel workbook';
  readonly rows?: string;
  readonly caseReference?: string;
}

/** Exports; the name of the file as the window says it. */
export async function exportRows(page: Page, wish: ExportWish): Promise<string> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const strip = page.getByRole('region', { name: 'Export', exact: true });
  if (wish.content !== undefined) await strip.getByText(wish.content, { exact: true }).click();
  await strip.getByRole('button', { name: 'Format…' }).click();
  await strip.getByRole('radio', { name: wish.written }).check({ force: true });
  if (wish.rows !== undefined) await choose(page, 'Rows', wish.rows);
  if (wish.caseReference !== undefined) await giveReason(strip, wish.caseReference);
  await strip.getByRole('button', { name: /^Export [\d]/ }).click();
  const said = await page.getByRole('status', { name: 'Exported' }).innerText({ timeout: 120_000 });
  return /Saved (.*) \([\d,]+ rows?, /.exec(said)?.[1] ?? said;
}

export interface ServiceAccess {
  readonly name: string;
  readonly baseUrl: string;
  readonly caPem: string;
  readonly policy: string;
  readonly apiKey: string;
  readonly policyPassword: string;
  readonly definition: { readonly name: string; readonly label: string };
}

/** Adds a connection as an administrator would, with its secrets, and uses it. */
export async function connect(page: Page, access: ServiceAccess): Promise<void> {
  await go(page, 'Connections');
  const add = page.getByRole('button', { name: 'Add a connection' }).first();
  // What is in use can be counted once the page is there.
  await add.waitFor();
  // The first connection is in use by itself.
  const isFirst = (await page.getByText('in use', { exact: true }).count()) === 0;
  await add.click();
  await page.getByLabel('Name', { exact: true }).fill(access.name);
  await page.getByLabel('Base URL').fill(access.baseUrl);
  await page.getByText('Also trust our own certificate authority').click();
  await page.getByLabel('CA certificate (PEM)').fill(access.caPem);
  await page.getByRole('button', { name: 'Next: Access' }).click();
  await page.getByLabel('Policy name').fill(access.policy);
  await page.getByRole('button', { name: 'Add policy' }).click();
  const definitions = page.getByRole('region', { name: 'Token definitions' });
  if ((await definitions.getByRole('group').count()) === 0)
    await page.getByRole('button', { name: 'Add definition' }).click();
  const definition = definitions.getByRole('group', { name: 'Definition 1' });
  await definition.getByLabel('Service name').fill(access.definition.name);
  await definition.getByLabel('Shown as').fill(access.definition.label);
  await page.getByLabel('API key', { exact: true }).fill(access.apiKey);
  await storeSecret(page, `Password for ${access.policy}`, access.policyPassword);
  if (!isFirst) await page.getByRole('button', { name: 'Use this connection' }).click();
  await page.locator('[aria-current=true]').getByText('in use').waitFor();
}

/** Types a day, YYYY-MM-DD, part by part, in whatever order the person's locale has them. */
export async function typeDate(page: Page, label: string, day: string): Promise<void> {
  const [year = '', month = '', date = ''] = day.split('-');
  for (const [part, text] of Object.entries({ year, month, day: date })) {
    await page.getByRole('spinbutton', { name: `${part}, ${label}` }).focus();
    await page.keyboard.type(text);
  }
}

/** Types a secret and saves the connection with it. */
export async function storeSecret(page: Page, label: string, secret: string): Promise<void> {
  const entry = page.locator('.entry', { has: page.getByLabel(label, { exact: true }) });
  const field = entry.getByLabel(label, { exact: true });
  await field.fill(secret);
  await field.press('Enter');
  await entry.getByText(/In the keychain|In memory/).waitFor();
}
