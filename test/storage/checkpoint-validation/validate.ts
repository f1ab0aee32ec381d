import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import * as vitest from 'vitest'

/** The whole of LangGraph's own suite. Its tests call vitest's functions as globals. */
export async function validateSaver(
  name: string,
  create: () => BaseCheckpointSaver | Promise<BaseCheckpointSaver>,
) {
  const { describe, it, expect, beforeAll, afterAll, beforeEach, afterEach } = vitest
  Object.assign(globalThis, { describe, it, expect, beforeAll, afterAll, beforeEach, afterEach })
  const { deltaChannelHistoryTests, validate } = await import('@langchain/langgraph-checkpoint-validation')
  const initializer = { checkpointerName: name, createCheckpointer: create }
  validate(initializer)
  deltaChannelHistoryTests(initializer)
}
