import type { Names } from './names.ts'
import { checkpointFunctions, checkpointTables } from './saver/sql-checkpoints.ts'
import { appendFunction } from './store/sql-append.ts'
import { commitFunction } from './store/sql-commit.ts'
import { storeFunctions, storeTables } from './store/sql-store.ts'

/** Applied in order, each once. Never change one that was released: add another. */
export const migrations: readonly ((names: Names) => string)[] = [
  (names) =>
    [
      storeTables(names),
      commitFunction(names),
      appendFunction(names),
      storeFunctions(names),
      checkpointTables(names),
      checkpointFunctions(names),
    ].join('\n'),
]
