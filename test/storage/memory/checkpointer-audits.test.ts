import { MemorySaver } from '@langchain/langgraph-checkpoint'
import { describe, test } from 'vitest'
import { checkpointerAudits } from '../../../src/audit/checkpointer.ts'
import type { Checkpointer } from '../../../src/storage/checkpointer/checkpointer.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import { memoryStorage } from '../../../src/storage/memory/storage.ts'
import { saveOnForgotten } from '../suites.ts'

describe('memoryCheckpointer', () => {
  for (const { id, name, fn } of checkpointerAudits({
    create: () => ({ checkpointer: memoryCheckpointer() }),
  })) {
    test(`${id}: ${name}`, fn)
  }
  test('a run saves nothing on a checkpoint that the database has forgotten', () =>
    saveOnForgotten(memoryStorage()))
})

// LangGraph's own saver orders by namespace first, then by id. Its serializer assigns a key named __proto__.
const KNOWN = ['checkpointer.list.order', 'checkpointer.list.clocks', 'checkpointer.values.prototype-key']

describe("LangGraph's MemorySaver", () => {
  const create = () => ({ checkpointer: new MemorySaver() as unknown as Checkpointer })
  for (const { id, name, fn } of checkpointerAudits({ create })) {
    const run = KNOWN.includes(id) ? test.fails : test
    run(`${id}: ${name}`, fn)
  }
})
