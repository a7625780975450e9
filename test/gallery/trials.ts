import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { startBuiltInService } from '../../electron/built-in-service/start.ts';
import { launchApp } from '../support/launch-app.ts';
import type { OpenApp } from '../support/app-fixture.ts';
import { paste, systemDialogs } from '../support/page-actions.ts';
import { tokenizeCards } from '../support/tour.ts';
import { builtInServiceWorker } from '../support/workers.ts';

/**
 * Four people do their work in the app that ships, and what it takes is counted: keys, Tabs, clicks. `node
 * test/gallery/trials.ts [agent|analyst|manager|administrator …]`; pictures of the ends in out/gallery.
 */
interface Person {
  readonly page: Page;
  readonly app: Pick<OpenApp, 'downloads'>;
  readonly home: string;
  readonly counts: Record<'keys' | 'tabs' | 'clicks' | 'fields', number>;
  readonly press: (key: string) => Promise<void>;
  readonly pastes: (text: string) => Promise<void>;
  readonly clicks: (name: string | RegExp) => Promise<void>;
  readonly shot: (name: string) => Promise<void>;
}

type Told = Readonly<Record<string, unknown>>;

async function asPerson(work: (person: Person) => Promise<Told>): Promise<Told> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-trial-'));
  const downloads = path.join(home, 'downloads');
  const app = await launchApp({ home: path.join(home, 'desk'), downloads });
  const { page } = app;
  const counts = { keys: 0, tabs: 0, clicks: 0, fields: 0 };
  try {
    const told = await work({
      page,
      app: { downloads },
      home,
      counts,
      async press(key) {
        counts[key.endsWith('Tab') ? 'tabs' : 'keys'] += 1;
        await page.keyboard.press(key);
      },
      async pastes(text) {
        counts.keys += 1;
        await paste(page, text);
      },
      async clicks(name) {
        counts.clicks += 1;
        await page.getByRole('button', { name }).first().click();
      },
      async shot(name) {
        fs.mkdirSync('out/gallery', { recursive: true });
        await page.screenshot({ path: `out/gallery/trial-${name}.png` });
      },
    });
    return { ...told, ...counts };
  } finally {
    await app.close();
    fs.rmSync(home, { recursive: true, force: true });
  }
}

/** What the log has of acts that disclosed. */
function disclosures(home: string): number {
  const folder = path.join(home, 'desk/audit');
  return fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => fs.readFileSync(path.join(folder, name), 'utf8').split('\n'))
    .filter((line) => /"phase":"begun".*"reason":"/.test(line)).length;
}

const focused = `(() => { const one = document.activeElement; return one === document.body ? 'BODY' : one.tagName + ' ' + (one.ariaLabel ?? one.labels?.[0]?.textContent ?? one.textContent ?? '').trim().slice(0, 60); })()`;

const people: Readonly<Record<string, () => Promise<Told>>> = {
  /** Twenty cases, each with its token: opened, looked up, the mask copied. The last one is revealed. */
  agent: () =>
    asPerson(async ({ page, app, home, press, pastes, shot, counts }) => {
      const { tokens } = await tokenizeCards(page, app, home, 20);
      Object.assign(counts, { keys: 0, clicks: 0 });
      await page.getByRole('navigation', { name: 'Places' }).getByRole('button', { name: 'Lookup' }).click();
      await page.getByRole('textbox', { name: 'Token' }).waitFor();
      const before = disclosures(home);
      const started = performance.now();
      for (const [index, token] of tokens.entries()) {
        await pastes(`D-${30_001 + index}`);
        await press('Enter');
        await pastes(token);
        await press('Enter');
        await page.getByText('masked by the service').waitFor();
        await page.getByRole('region', { name: 'Result' }).getByText(token.slice(-4)).first().waitFor();
        await press('c');
      }
      const ms = Math.round(performance.now() - started);
      const unintended = disclosures(home) - before;
      await shot('agent');
      const keysBefore = counts.keys;
      await press('Control+Shift+c');
      await press('1');
      await page.getByRole('group', { name: 'In clear' }).waitFor();
      return {
        cases: tokens.length,
        keysACase: keysBefore / tokens.length,
        keysToReveal: counts.keys - keysBefore,
        msACase: ms / 20,
        unintended,
        intended: disclosures(home) - before - unintended,
      };
    }),

  /** A file of tokens, from nothing to the export, without a pointer. */
  analyst: () =>
    asPerson(async ({ page, app, home, press, shot, counts }) => {
      const { tokens } = await tokenizeCards(page, app, home, 400);
      const source = path.join(home, 'november.csv');
      fs.writeFileSync(
        source,
        `case;card_token;name\r\n${tokens.map((token, n) => `D-${n};${n % 40 === 7 ? 'nothing' : token};Müller ${n}`).join('\r\n')}\r\n`,
        'latin1',
      );
      await page.getByRole('button', { name: 'All batches' }).click();
      Object.assign(counts, { keys: 0, tabs: 0, clicks: 0 });
      const said: string[] = [];
      const note = async (what: string): Promise<void> => {
        await page.waitForTimeout(500);
        said.push(`${what}: ${await page.evaluate<string>(focused)}`);
      };
      await systemDialogs.get(page)?.(source);
      await press('Control+o');
      await page.getByText('november.csv').first().waitFor();
      await page.getByRole('button', { name: /^Run on/ }).waitFor();
      await note('opened');
      await shot('analyst-opened');
      // To the suggestion, or to the column's own menu.
      const suggestion = page.getByRole('button', { name: /Detokenize/ }).first();
      for (let step = 0; step < 60 && !(await suggestion.evaluate((one) => one.matches(':focus'))); step++)
        await press('Tab');
      await press('Enter');
      await note('mapped');
      await press('Control+Enter');
      await page.getByRole('status', { name: 'Sum' }).waitFor();
      await note('finished');
      await shot('analyst-finished');
      const sum = await page.getByRole('status', { name: 'Sum' }).innerText();
      await press('Control+e');
      await note('export');
      await shot('analyst-export');
      for (let step = 0; step < 30; step++) {
        const name = await page.evaluate<string>(focused);
        if (/^BUTTON Export \d/.test(name)) break;
        await press('Tab');
      }
      await press('Enter');
      await page.getByRole('status', { name: 'Exported' }).waitFor();
      await note('exported');
      await shot('analyst-exported');
      return { sum, said };
    }),

  /** How many requests failed last month, and why, by definition. */
  manager: () =>
    asPerson(async ({ page, app, home, clicks, shot, counts }) => {
      const { tokens } = await tokenizeCards(page, app, home, 20);
      await page.getByRole('navigation', { name: 'Places' }).getByRole('button', { name: 'Lookup' }).click();
      for (const token of [tokens[0] ?? '', '4242424242424242', 'nothing']) {
        await page.getByRole('textbox', { name: 'Token' }).fill(token);
        await page.keyboard.press('Enter');
        await page.waitForTimeout(300);
      }
      Object.assign(counts, { keys: 0, clicks: 0 });
      await clicks('Reports');
      await clicks('Sign in to the built-in portal');
      await page.getByText(/signed in as reporter/).waitFor();
      await page.getByText('Most recent').waitFor();
      await page.waitForTimeout(1_500);
      await shot('manager-now');
      const now = await page.locator('main').innerText();
      counts.clicks += 1;
      await page.getByText('Last 30 days').click();
      await page.waitForTimeout(500);
      await shot('manager-dates');
      await page.getByText('Last month', { exact: true }).first().click();
      counts.clicks += 1;
      await page.waitForTimeout(1_500);
      await shot('manager-last-month');
      return { now, lastMonth: await page.locator('main').innerText() };
    }),

  /** A connection with its secrets, tested. */
  administrator: async () => {
    const service = await startBuiltInService({ secret: randomBytes(32), worker: builtInServiceWorker });
    try {
      return await asPerson(async ({ page, clicks, press, shot, counts }) => {
        const field = async (label: string | RegExp, text: string): Promise<void> => {
          counts.fields += 1;
          await page
            .getByLabel(label, { exact: typeof label === 'string' })
            .first()
            .fill(text);
        };
        await clicks('Connections');
        await clicks('Add a connection');
        await field('Name', 'Acme test');
        await field('Base URL', service.baseUrl);
        counts.clicks += 1;
        await page.getByText('Also trust our own certificate authority').click();
        await field('CA certificate (PEM)', service.caPem);
        await clicks('Next: Access');
        await field('API key', service.apiKey.value);
        await field('Policy name', 'analyst');
        await press('Enter');
        await shot('administrator-access');
        await field(
          'Password for analyst',
          service.policies.find(({ name }) => name === 'analyst')?.password ?? '',
        );
        await clicks('Add definition');
        await field('Service name', 'card-number');
        await field('Shown as', 'Card number');
        await clicks(/^Save and test/);
        await page.getByRole('button', { name: 'Stop after this one' }).waitFor();
        await page.getByRole('button', { name: 'Stop after this one' }).waitFor({ state: 'detached' });
        await shot('administrator-tested');
        return { said: await page.locator('main').innerText() };
      });
    } finally {
      await service.stop();
    }
  },
};

const wanted = process.argv.slice(2);
for (const [name, work] of Object.entries(people)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stdout.write(`${name}: ${JSON.stringify(await work(), null, 1)}\n`);
}
process.exit();
