import assert from 'node:assert/strict';
import type { Page } from '@playwright/test';
import { openWindow } from './open-window.ts';
import { traceTasks } from './trace-tasks.ts';

/**
 * What pictures can't show, on the fake bridge: what is gone from the document after hiding and
 * locking, that nothing jumps on reveal, and that a million rows scroll without a long task. `node
 * test/gallery/behave.ts`; throws at the first thing that does not hold.
 */
const clear = '4111117309211111';
const { page, violations, show, close } = await openWindow();

async function on(scene: string, run: (page: Page) => Promise<void>): Promise<void> {
  await show(scene, { theme: 'light', width: 1_440, height: 900 });
  await run(page);
  assert.deepEqual(violations, []);
}

async function lookUp(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Case' }).fill('D-20931');
  await page.getByRole('textbox', { name: 'Token' }).fill('4222 1173 0921 2222');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Result' }).waitFor();
}

async function reveal(page: Page): Promise<void> {
  await page.keyboard.press('Control+Shift+c');
  await page.getByRole('region', { name: 'Reveal' }).waitFor();
  await page.keyboard.press('1');
  await page.getByRole('group', { name: 'In clear' }).waitFor();
}

const everything = (page: Page): Promise<string> =>
  page.evaluate('document.documentElement.outerHTML + document.body.textContent');
const gone = async (page: Page): Promise<void> => {
  await page.getByRole('group', { name: 'In clear' }).waitFor({ state: 'detached' });
  assert.ok(!(await everything(page)).includes('1173</span><span>0921'), 'the groups are still there');
  assert.ok(!(await everything(page)).includes(clear), 'the value is still there');
};

await on('busy', async (page) => {
  await lookUp(page);
  const before = await page.getByRole('button', { name: 'Copy masked' }).boundingBox();
  const mask = await page.locator('section[aria-label=Result] .digits.display').boundingBox();
  await reveal(page);
  assert.ok((await page.getByRole('group', { name: 'In clear' }).textContent())?.includes(clear));
  const attributes = await page.evaluate<string[]>(
    '[...document.querySelectorAll("*")].flatMap((node) => [...node.attributes].map(({ value }) => value))',
  );
  assert.ok(!attributes.some((value) => value.includes(clear)), 'cleartext in an attribute');
  const after = await page.getByRole('button', { name: 'Copy masked' }).boundingBox();
  assert.deepEqual(after, before, 'the buttons jumped on reveal');
  const right = await page.evaluate<number>(
    'document.querySelector(".revealed .value").lastElementChild.getBoundingClientRect().right',
  );
  assert.ok(mask !== null && Math.abs(right - (mask.x + mask.width)) < 1, 'mask and value differ in width');

  await page.keyboard.press('Escape');
  await gone(page);
  await reveal(page);
  await page.evaluate('window.dispatchEvent(new Event("blur"))');
  await gone(page);
  await reveal(page);
  await page.keyboard.press('Control+l');
  await page.getByRole('heading', { name: 'Locked' }).waitFor();
  await gone(page);
  const locked = await everything(page);
  for (const word of ['D-20931', '4222117309212222', '411111', 'Lookup', 'dispute-desk']) {
    assert.ok(!locked.includes(word), `${word} is in the document while locked`);
  }
  await page.keyboard.press('Control+2');
  assert.equal(await page.getByRole('navigation').count(), 0, 'a key opened a page while locked');
  await page.getByRole('button', { name: 'Unlock' }).click();
  await page.getByRole('textbox', { name: 'Token' }).waitFor();
  assert.equal(
    await page.getByRole('textbox', { name: 'Token' }).inputValue(),
    '',
    'the token outlasted the lock',
  );
  console.log('reveal, hide and lock leave nothing behind; nothing jumps');
});

await on('busy', async (page) => {
  await page.getByText('Tokenize a value').click();
  await page.getByRole('textbox', { name: 'Value in clear' }).fill(clear);
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Result' }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Value in clear' }).inputValue(), '');
  await page.getByText('Look up a token').click();
  await page.getByRole('textbox', { name: 'Token' }).focus();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Control+2');
  await page.getByRole('button', { name: 'Choose a file' }).waitFor();
  const transfer = await page.evaluateHandle(
    '(() => { const t = new DataTransfer(); t.items.add(new File(["a"], "a.csv")); return t; })()',
  );
  await page.dispatchEvent('body', 'dragover', { dataTransfer: transfer });
  await page.getByText('Drop to create a batch').waitFor();
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
  await page.getByRole('region', { name: 'First rows of disputes-q3.csv' }).waitFor();
  console.log('a tokenized value is emptied; a dropped file becomes a batch');
});

await on('finished', async (page) => {
  await page.keyboard.press('Control+2');
  await page.getByRole('button', { name: 'Open cards-2026.csv' }).click();
  const grid = page.getByRole('grid');
  await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
  const { tasks } = await traceTasks(page, async () => {
    await grid.hover();
    for (let turn = 0; turn < 60; turn += 1) await page.mouse.wheel(0, 280);
    for (let part = 1; part <= 40; part += 1) {
      await page.evaluate(
        `(() => { const grid = document.querySelector('[role=grid]'); ` +
          `grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * ${part / 40}; })()`,
      );
      await page.evaluate(
        'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
      );
    }
    await page.getByRole('rowheader', { name: '1,000,000', exact: true }).waitFor();
    await grid.focus();
    await page.keyboard.press('Control+Home');
    await page.getByRole('gridcell', { name: 'D-20001' }).waitFor();
    await page.keyboard.press('PageDown');
    await page.getByRole('textbox', { name: 'Go to row' }).fill('500 000');
    await page.keyboard.press('Enter');
    await page.getByRole('rowheader', { name: '500,000', exact: true }).waitFor();
  });
  const cells = await page.getByRole('gridcell').count();
  const longest = tasks.slice(0, 5).map((ms) => ms.toFixed(1));
  console.log(`1,000,000 rows: ${cells} cells, ${tasks.length} tasks, the longest ${longest.join(', ')} ms`);
  assert.ok(cells < 400);
});

await close();
