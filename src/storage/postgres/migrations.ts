import type { Names } from './names.ts'
import { appendFunction } from './sql-append.ts'
import { checkpointFunctions, checkpointTables } from './sql-checkpoints.ts'
import { commitFunction } from './sql-commit.ts'
import { storeFunctions, storeTables } from './sql-store.ts'

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
