import { defineConfig } from '@playwright/test';
import { realElectron } from './scripts/electron-binary.ts';

/** Runs the project `electron` on the program over Chromium as well, to see that its tests are right. */
const isAsked = process.env['TOKENDESK_ELECTRON_PROJECT'] === '1';

export default defineConfig({
  testDir: 'test/e2e',
  outputDir: 'out/e2e',
  projects: [
    { name: 'app', testIgnore: 'electron/**' },
    // What only Electron itself can prove: docs/first-run.md.
    ...(realElectron() !== null || isAsked ? [{ name: 'electron', testDir: 'test/e2e/electron' }] : []),
  ],
  // Nearly each test starts a browser and a service of its own; more would only wait for each other.
  workers: 2,
  fullyParallel: true,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: 'list',
  // A trace would keep what was typed, and what is typed here are secrets and card numbers.
  use: { trace: 'off', screenshot: 'off', video: 'off' },
});
