import { memoryStorage } from '../../src/storage/memory/storage.ts'
import { callsOf, OPERATIONS } from '../kit/operations.ts'
import { type Bench, runAlone } from './support/report.ts'

/** Counts the calls of a store and a saver for one operation on an idle server. `test/storage-calls.test.ts` holds the budgets. */
export const calls: Bench = async () => {
  const rows = []
  for (const operation of OPERATIONS) {
    const { made } = await callsOf(operation, memoryStorage())
    const kinds = new Map<string, number>()
    for (const call of made) kinds.set(call, (kinds.get(call) ?? 0) + 1)
    rows.push({
      bench: operation.name,
      ours: `${made.length}: ${[...kinds].map(([call, count]) => `${call} ${count}`).join(', ')}`,
      peer: '',
      ratio: '',
      target: `<= ${operation.budget}`,
      met: made.length <= operation.budget,
    })
  }
  return rows
}

await runAlone(import.meta.url, calls)
