import { defineConfig } from 'vitest/config'

const shared = { pool: 'forks' as const, restoreMocks: true }

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: [
            'test/unit/**/*.test.ts',
            'test/contract/**/*.unit.test.ts',
            'test/sim/**/*.test.ts',
            'examples/**/*.test.ts',
          ],
          testTimeout: 10_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'integration',
          include: ['test/integration/**/*.test.ts', 'test/contract/**/*.integration.test.ts', 'test/e2e/**/*.test.ts'],
          globalSetup: ['test/helpers/stack-setup.ts'],
          setupFiles: ['test/helpers/calm-kafkajs.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers: 3, // most of their time is spent waiting for brokers
        },
      },
      {
        test: { ...shared, name: 'deploy', include: ['test/deploy/**/*.test.ts'], testTimeout: 30_000 },
      },
      { test: { ...shared, name: 'init', include: ['test/init/**/*.test.ts'] } },
    ],
  },
})
