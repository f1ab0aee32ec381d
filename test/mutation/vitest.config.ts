import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'
import { groups } from '../kit/groups.ts'

/** The tests that `test/mutation/run.mjs` has chosen, in one project. A mutant that makes the others wait is ended by StrykerJS. */
const { projects: _, sequence: __, ...test } = base.test ?? {}

const chosen = (process.env.MUTATION_TESTS ?? '').split(',')

/** Of a folder those that `npm test` runs, and with servers all. */
const { source, alone } = groups()
const inFolder = (folder: string): readonly string[] =>
  process.env.STORAGES === 'local'
    ? [...source, ...alone].filter((file) => file.startsWith(`${folder}/`))
    : [`${folder}/**/*.test.ts`]

export default mergeConfig(
  { ...base, test },
  {
    test: {
      include: chosen.flatMap((one) => (one.endsWith('.ts') ? one : inFolder(one))),
      retry: 0,
      maxWorkers: 1,
    },
  },
)
