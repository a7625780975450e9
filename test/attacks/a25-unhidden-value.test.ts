import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createElectronPlatform } from '../../electron/platform/electron-platform.ts';
import type { AwaySignal } from '../../electron/platform/platform.ts';
import { createReveals } from '../../electron/privacy/reveals.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { createFakeElectron } from '../support/fake-electron.ts';
import { tempFolder, tinyBundle } from '../support/temp-folder.ts';

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
  reveals.open();
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
  reveals.open();
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

test('Electron: a window that does not respond is asked to hide, its renderer is ended and loaded again', async () => {
  const fake = createFakeElectron({ userData: path.join(tempFolder(), 'data'), appPath: '/the/app' });
  const preload = path.join(tempFolder(), 'preload.cjs');
  fs.writeFileSync(preload, '');
  const platform = await createElectronPlatform(fake.modules, {
    renderer: tinyBundle(),
    preload,
    os: 'linux',
  });
  await platform.openWindow();
  const signals: AwaySignal[] = [];
  const { promise, resolve } = Promise.withResolvers<null>();
  platform.onAway((signal) => {
    signals.push(signal);
    if (signal === 'renderer-gone') resolve(null);
  });
  const [window] = fake.windows;
  if (window === undefined) throw new Error('no window');
  window.emit('unresponsive');
  expect(signals).toEqual(['blur']);
  window.url = '';
  platform.endRenderer();
  await promise;
  await expect.poll(() => window.url).toBe('app://tokendesk/index.html');
});
