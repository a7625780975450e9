import { defineConfig } from '@playwright/test';
import { electronBinary } from './scripts/electron-binary.ts';

/** Which host a project shows the app in; specs read it as `testInfo.project.name`. */
export const hosts = ['chromium-platform', ...(electronBinary() === null ? [] : ['electron'])];

export default defineConfig({
  testDir: 'test/e2e',
  outputDir: 'out/e2e',
  projects: hosts.map((name) => ({ name })),
  // Each test starts a browser and a service of its own; more would only wait for each other.
  workers: 2,
  fullyParallel: true,
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: 'list',
  // A trace would keep what was typed, and what is typed here are secrets and card numbers.
  use: { trace: 'off', screenshot: 'off', video: 'off' },
});
