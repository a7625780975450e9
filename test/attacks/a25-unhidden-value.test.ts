import { expect, onTestFinished, test } from 'vitest';
import { createReveals } from '../../electron/privacy/reveals.ts';
import { lookUpSample, revealLookup } from '../support/ask-bridge.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { launchApp } from '../support/launch-app.ts';
import { tempFolder } from '../support/temp-folder.ts';

/* A window that hangs, or refuses to hide, keeps the value on the screen. */

function setUp() {
  const clock = fakeClock();
  const steps: string[] = [];
  let next = 0;
  const reveals = createReveals({
    clock,
    revealMs: () => 20_000,
    newId: () => `r${++next}`,
    emit: ({ revealId, cause }) => steps.push(`${revealId} ${cause}`),
    protectContent: (on) => steps.push(on ? 'protect' : 'unprotect'),
    endRenderer: () => steps.push('end renderer'),
  });
  reveals.allow();
  reveals.open('one');
  return { clock, steps, reveals };
}

test.each([
  ['time', ({ clock }: ReturnType<typeof setUp>) => clock.advance(20_000)],
  ['blur', ({ reveals }: ReturnType<typeof setUp>) => reveals.leave('blur')],
  ['locked', ({ reveals }: ReturnType<typeof setUp>) => reveals.leave('locked')],
] as const)('a value that ends by %s and is not hidden within 500 ms ends the renderer', (why, end) => {
  const app = setUp();
  end(app);
  app.clock.advance(499);
  expect(app.steps).toEqual(['protect', `r1 ${why}`]);
  app.clock.advance(1);
  expect(app.steps).toEqual(['protect', `r1 ${why}`, 'end renderer']);
  app.reveals.gone();
  expect(app.steps.slice(3)).toEqual(['unprotect']);
  expect(app.clock.pending()).toBe(0);
});

test('one that the window says it hid ends nothing, and is protected until then', () => {
  const { clock, steps, reveals } = setUp();
  reveals.leave('blur');
  clock.advance(400);
  reveals.hidden('r2');
  expect(steps).toEqual(['protect', 'r1 blur']);
  reveals.hidden('r1');
  reveals.hidden('r1');
  clock.advance(60_000);
  expect(steps).toEqual(['protect', 'r1 blur', 'unprotect']);
});

test('to say so beforehand does not count', () => {
  const { clock, steps, reveals } = setUp();
  reveals.hidden('r1');
  reveals.leave('locked');
  clock.advance(500);
  expect(steps.at(-1)).toBe('end renderer');
});

test('one that was replaced must be hidden too', () => {
  const { clock, steps, reveals } = setUp();
  reveals.open('one');
  reveals.hide('r2');
  expect(steps).toEqual(['protect', 'r1 replaced', 'protect', 'r2 hidden']);
  clock.advance(500);
  expect(steps.at(-1)).toBe('end renderer');
});

test('a renderer that crashed by itself is not ended again once its page is loaded', () => {
  const { clock, steps, reveals } = setUp();
  reveals.gone();
  clock.advance(60_000);
  expect(steps).not.toContain('end renderer');
  expect(steps.at(-1)).toBe('unprotect');
});

test('the built app: a window in a loop is asked to hide what it shows, its renderer is ended and loaded again', async () => {
  const home = tempFolder();
  const app = await launchApp({ home, downloads: home });
  onTestFinished(() => app.close());
  const revealId = await revealLookup(app.page, await lookUpSample(app.page));
  await app.page.evaluate(() => {
    setTimeout(() => {
      for (;;);
    });
  });
  const loaded = await app.application.evaluate(async ({ BrowserWindow }) => {
    const [window] = BrowserWindow.getAllWindows();
    const again = new Promise((resolve) => {
      window?.webContents.once('did-finish-load', () => resolve(window.isContentProtected()));
    });
    window?.emit('unresponsive');
    return again;
  });
  expect((await app.outward()).join('\n')).toContain(`{"revealId":"${revealId}","cause":"blur"}`);
  // With the renderer the value is gone.
  expect(loaded).toBe(false);
});
