import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'keyring',
    root: import.meta.dirname,
    include: ['*.test.ts'],
    setupFiles: ['../support/boringssl-setup.ts'],
    // A process for each file: the connection to the bus belongs to the process and can't be changed.
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
