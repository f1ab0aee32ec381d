import { expect, test } from 'vitest'
import { createAgentEngine, defineAgent } from '../../../src/index.ts'

test('the title of the server is no activity of the thread, and metadata of the same patch are merged', async () => {
  const engine = createAgentEngine({ agents: { echo: defineAgent({ run: () => {} }) } })
  const threadId = 't'
  await engine.createThread({ threadId, metadata: { team: 'red' } })
  const before = await engine.patchThread({ threadId, metadata: { seen: true } })
  const after = await engine.patchThread({ threadId, title: 'Lunch', metadata: { titled_by: 'model' } })
  expect(after).toEqual({
    ...before,
    title: 'Lunch',
    metadata: { team: 'red', seen: true, titled_by: 'model' },
  })
  expect(await engine.findThread({ threadId })).toEqual(after)
  await engine.close()
})
