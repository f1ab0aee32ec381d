import assert from 'node:assert/strict'
import { createAgentEngine } from 'agentwire'

// #region artifacts
import { defineAgent } from 'agentwire'

export const reporter = defineAgent({
  async run({ artifact }) {
    await artifact('month,sales\nMay,42', { name: 'sales.csv' }) // a text, a content block, or a list of blocks

    const report = artifact({ id: 'report', name: 'Report', description: 'Sales in May' })
    for (const piece of ['# May', ' was good.']) await report.text(piece) // becomes one text block
    await report.block({ type: 'image', base64: 'AQID', mimeType: 'image/png' })
    await report.data({ total: 42 }) // JSON
    await report.end()
  },
})
// #endregion

const engine = createAgentEngine({ agents: { reporter } })
const threadId = 'thread'
const { runId } = await engine.start({ threadId, input: { messages: [] } })
assert.equal((await engine.wait({ threadId, runId })).status, 'success')
const thread = await engine.findThread({ threadId })
const artifacts = (await engine.readState(thread!))?.values.artifacts as { name: string }[]
assert.deepEqual(
  artifacts.map(({ name }) => name),
  ['sales.csv', 'Report'],
)
await engine.close()
