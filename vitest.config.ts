import { defineConfig } from 'vitest/config';

/**
 * - `unit`: no engine; beside the code.
 * - `engines`: `*.int.test.ts` beside the code, on real engines that are started once per run.
 * - `e2e`: what spans services, against services started as people start them; one file at a time.
 *
 * One group after the other, so that none competes with a whole stack for the processor.
 */
export default defineConfig({
  test: {
    reporters: ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: ['{packages,services,infra,demo,bench}/**/*.test.ts'],
          exclude: ['**/*.int.test.ts', '**/node_modules/**'],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'engines',
          sequence: { groupOrder: 1 },
          include: ['{packages,services,infra,demo,bench}/**/*.int.test.ts'],
          exclude: ['**/node_modules/**'],
          globalSetup: ['tests/setup/engines.ts'],
          maxWorkers: 2,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'e2e',
          sequence: { groupOrder: 2 },
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
