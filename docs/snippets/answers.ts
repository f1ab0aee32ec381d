import assert from 'node:assert/strict'
import { createAgentEngine, defineAgent, textOf } from 'agentwire'

const engine = createAgentEngine({
  agents: {
    agent: defineAgent({
      async run({ messages, message, interrupt }) {
        const text = textOf(messages.at(-1)!)
        if (text === 'Delete it') await interrupt({ question: 'Sure?' })
        await message(`Done: ${text}`)
      },
    }),
  },
})

// #region follow
import type { AgentEngine } from 'agentwire'

async function ask(engine: AgentEngine, threadId: string, content: string) {
  const input = { messages: [{ role: 'user', content }] }
  const answer = await engine.follow({ threadId, start: { input } })
  for await (const event of answer)
    if (event.type === 'event' && event.method === 'custom') console.log(event.data.payload)
  return answer.end
}

async function approve(engine: AgentEngine, threadId: string, questionId: string) {
  const answer = await engine.follow({ threadId, respond: { answers: { [questionId]: true } } })
  return answer.ended()
}
// #endregion

// #region resume
async function resume(engine: AgentEngine, threadId: string, signal: AbortSignal) {
  const answer = await engine.follow({ threadId, signal })
  if (!answer) return 'nothing to resume'
  for await (const event of answer) console.log(event)
  return answer.end
}
// #endregion

// #region snapshot
async function load(engine: AgentEngine, threadId: string) {
  const snapshot = await engine.snapshot({ threadId })
  if (!snapshot) return undefined
  const { state, questions, answer, seq } = snapshot
  const events = answer && (await engine.follow({ threadId, answerId: answer.taskId, after: seq }))
  return { messages: state?.values.messages, questions, events }
}
// #endregion

// #region edit
async function edit(engine: AgentEngine, threadId: string, messageId: string, content: string) {
  const checkpointId = await engine.checkpointBefore({ threadId, messageId })
  if (checkpointId === undefined) throw new Error('There is no such message.')
  const input = { messages: [{ role: 'user', content }] }
  return engine.follow({ threadId, start: { input, checkpointId } })
}
// #endregion

const threadId = 'chat'
const asks = await ask(engine, threadId, 'Delete it')
assert.ok(asks?.status === 'asks')
assert.equal(asks.questions.length, 1)
const loaded = await load(engine, threadId)
assert.equal(loaded?.questions.length, 1)
assert.equal(loaded.events?.end?.status, 'asks')
assert.deepEqual(await approve(engine, threadId, asks.questions[0]!.id), { status: 'completed' })
assert.equal(await resume(engine, threadId, new AbortController().signal), 'nothing to resume')
const textsOf = async () => {
  const messages = (await load(engine, threadId))?.messages as { id: string; content: unknown }[]
  return messages.map(({ id, content }) => ({ id, text: JSON.stringify(content) }))
}
const [first] = await textsOf()
await (await edit(engine, threadId, first!.id, 'Keep it')).ended()
assert.equal((await textsOf()).length, 2)
assert.match((await textsOf())[1]!.text, /Done: Keep it/)
await engine.close()
