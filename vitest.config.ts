import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { pages } from './.ci/pages.ts'
import { groups } from './test/kit/groups.ts'
import { LeftOut } from './test/kit/left-out.ts'
import { LongestFirst } from './test/kit/longest-first.ts'
import tsconfig from './tsconfig.json' with { type: 'json' }

/** The examples import `agentwire` as users do. In tests that is the source. */
const alias = Object.entries(tsconfig.compilerOptions.paths).map(([name, [path]]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(new URL(path!, import.meta.url)),
}))

const { source, alone, servers, adapters, programs, browser } = groups()

/** What `npm test` runs its files over: memory and SQLite, and the adapter for node:http. Where nothing is chosen, over all. */
const NEAREST = { STORAGES: 'local', ADAPTERS: 'one' }

/** A worker loads each module once for all of its files, which saves a third of their time. */
const shared = { isolate: false, setupFiles: ['test/kit/restore.ts'] }

export default defineConfig({
  plugins: [pages],
  resolve: { alias },
  test: {
    // Deadlines are for what never comes: a busy machine takes ten times as long as an idle one.
    testTimeout: 240_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    // More than the two cores of CI: many tests wait for processes, databases and deadlines.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new LeftOut()],
    projects: [
      { extends: true, test: { name: 'source', include: [...source], env: NEAREST, ...shared } },
      { extends: true, test: { name: 'alone', include: [...alone], env: NEAREST } },
      {
        extends: true,
        test: {
          name: 'servers',
          include: [...servers],
          env: { STORAGES: 'servers', ADAPTERS: 'one' },
          ...shared,
        },
      },
      {
        extends: true,
        test: {
          name: 'adapters',
          include: [...adapters],
          env: { STORAGES: 'local', ADAPTERS: 'others' },
          ...shared,
        },
      },
      {
        extends: true,
        test: { name: 'programs', include: [...programs], globalSetup: 'test/docs/install.ts' },
      },
      {
        extends: true,
        test: {
          name: 'vendors',
          include: ['test/vendors/*.test.ts'],
          globalSetup: 'test/vendors/install.ts',
        },
      },
      { extends: true, test: { name: 'browser', include: [...browser] } },
      {
        extends: true,
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          globalSetup: 'test/package/build.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'chat',
          include: ['test/chat/page/**/*.test.ts'],
          globalSetup: 'test/chat/page/setup.ts',
          // A test goes through many steps of a user.
          testTimeout: 600_000,
        },
      },
    ],
  },
})
