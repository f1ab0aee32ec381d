import assert from 'node:assert/strict'
import { createAgentEngine, defineAgent, textOf } from 'agentwire'
import { edit } from './answers/edit.ts'
import { approve, ask } from './answers/follow.ts'
import { resume } from './answers/resume.ts'
import { load } from './answers/snapshot.ts'

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
