import assert from 'node:assert/strict'
import { type AgentContext, createAgentEngine, defineAgent } from 'agentwire'

const csv = 'month,sales\nMay,42'
const chart = 'AQID'
const chunks = ['# May', ' was good.']

async function run(context: AgentContext): Promise<void> {
  // #region artifacts
  await context.artifact(csv, { name: 'sales.csv' }) // a text, a content block, or a list of blocks
  const report = context.artifact({ id: 'report', name: 'Report', description: 'The sales of May.' })
  for await (const chunk of chunks) await report.text(chunk) // one text block in the end
  await report.block({ type: 'image', base64: chart, mimeType: 'image/png' })
  await report.data({ total: 42 }) // JSON
  await report.end()
  // #endregion
}

const isGreeting = (input: unknown): boolean => JSON.stringify(input).includes('Hello')

// #region answers
const brief = defineAgent({ answersWith: ({ input }) => (isGreeting(input) ? 'message' : 'task'), run })
// #endregion

// #region profile
const weather = defineAgent({
  name: 'weather',
  description: 'Knows the weather of the next ten days.',
  skills: [
    { id: 'forecast', name: 'Forecast', description: 'Tells the weather of a place.', tags: ['weather'] },
  ],
  inputModes: ['text/plain'],
  outputModes: ['text/plain', 'application/json'],
  run,
})
// #endregion

const engine = createAgentEngine({ agents: { brief, weather }, defaultAgent: 'weather' })
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
