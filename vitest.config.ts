import { availableParallelism } from 'node:os';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

/** What needs the built app, real time, kills, or thousands of made inputs: minutes, where `unit` takes seconds a module. */
const proof = [
  'test/{dev,electron-contract}/**/*.test.ts',
  'test/attacks/a{01,02,05,11,14,17,19,20,21,22,25,27}-*.test.ts',
  'test/attacks/b12-*.test.ts',
  'test/electron/{crypto,packaging}/**/*.test.ts',
  'test/electron/main.test.ts',
  'test/electron/platform/in-electron.test.ts',
  'test/electron/audit/crash.test.ts',
  'test/electron/batch/fidelity.test.ts',
  'test/electron/batch/running/{killed-*,torture,many-rows}.test.ts',
  'test/electron/built-in-service/{command-line,fuzz,start}.test.ts',
  'test/electron/service/{faults/**/*,pace}.test.ts',
  'test/electron/support/self-check.test.ts',
  'test/scripts/{build,dist,structure,verdicts/verdicts}.test.ts',
];

/** What replaces modules, or looks at all that its process has, and so needs one of its own. */
const alone = ['test/src/lib/format.test.ts', 'test/electron/batch/reading/detect.test.ts'];

export default defineConfig({
  plugins: [svelte()],
  test: {
    setupFiles: [
      'test/support/boringssl-setup.ts',
      'test/support/locale.ts',
      'test/support/warnings-setup.ts',
      // For `npm run mutate`: which tests reach which functions.
      ...(process.env['TOKENDESK_REACH'] === undefined ? [] : ['test/mutate/reach-setup.ts']),
    ],
    // One more than processors: many of these tests wait, for a process, a disk or a clock.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 60_000,
    // On a busy machine a state can come later than the second of the default.
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/{attacks,electron,src,scripts}/**/*.test.ts'],
          exclude: [...alone, ...proof],
          // To start a worker and to load the app again takes longer than most of these files do.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: alone } },
      { extends: true, test: { name: 'proof', include: proof } },
    ],
  },
});
