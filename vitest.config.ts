import { defineConfig } from 'vitest/config';

/**
 * - `unit`: no engine; beside the code.
 * - `engines`: `*.int.test.ts` beside the code, on real engines that are started once per run.
 * - `e2e`: what spans services, against services started as people start them; one file at a time.
 */
export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{packages,services,infra,demo,bench}/**/*.test.ts'],
          exclude: ['**/*.int.test.ts', '**/node_modules/**'],
          testTimeout: 15_000,
        },
      },
      {
        test: {
          name: 'engines',
          include: ['{packages,services,infra,demo,bench}/**/*.int.test.ts'],
          exclude: ['**/node_modules/**'],
          globalSetup: ['tests/setup/engines.ts'],
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['tests/**/*.test.ts'],
          exclude: ['**/node_modules/**'],
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
