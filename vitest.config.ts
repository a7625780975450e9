import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [svelte()],
  test: {
    include: ['test/{dev,electron,electron-contract,src,scripts,attacks}/**/*.test.ts'],
    setupFiles: [
      'test/support/boringssl-setup.ts',
      'test/support/locale.ts',
      'test/support/warnings-setup.ts',
    ],
    // By default one worker fewer than processors: on a machine of two, half of it.
    maxWorkers: '100%',
    testTimeout: 60_000,
    // On a busy machine a state can come later than the second of the default.
    expect: { poll: { timeout: 30_000 } },
    hookTimeout: 60_000,
  },
});
