import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/** The tests that `test/mutation/run.mjs` has chosen, in one project. A mutant that makes the others wait is ended by StrykerJS. */
const { projects: _, sequence: __, ...test } = base.test ?? {}

const chosen = (process.env.MUTATION_TESTS ?? '').split(',')

export default mergeConfig(
  { ...base, test },
  {
    test: {
      include: chosen.map((one) => (one.endsWith('.ts') ? one : `${one}/**/*.test.ts`)),
      retry: 0,
      maxWorkers: 1,
    },
  },
)
