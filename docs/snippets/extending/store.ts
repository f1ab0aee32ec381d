import assert from 'node:assert/strict'

// #region store
import { memoryStore, type Store } from 'agentwire'
import { storeAudits } from 'agentwire/audit'

/** Wraps a store and counts its commits. */
function countingStore(store: Store, count: () => void): Store {
  return {
    ...store,
    commit(...request) {
      count()
      return store.commit(...request)
    },
  }
}

let commits = 0
for (const { name, fn } of storeAudits({ create: () => countingStore(memoryStore(), () => commits++) })) {
  await fn() // rejects with an AuditError; any test runner can call it
  console.log(name)
}
// #endregion

assert.ok(commits > 20)
