import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { defineAgent } from '../../src/index.ts'
import { ScriptedChatModel } from '../fixtures/graphs.ts'
import { killable, SHARED } from '../kit/shared.ts'
import { eventually, gate } from '../kit/wait.ts'
import { slow } from './agents.ts'
import { clientOf, connected, GENERATIONS, serveAgents } from './rig.ts'

/** A graph whose model writes with words of its process, and which then waits in the first one. */
function writing(words: string, waits: boolean) {
  const { opened: atWork, open } = gate()
  const model = new ScriptedChatModel(() => ({ text: words }))
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => {
      const answer = await model.invoke(messages)
      open()
      if (waits) await new Promise(() => {})
      return { messages: [answer] }
    })
    .addEdge(START, 'model')
    .compile()
  return { agent: langgraph(graph), atWork }
}

test.each(Object.keys(SHARED) as (keyof typeof SHARED)[])(
  'over %s, the text of a process that was lost is not shown beside that of the next one',
  async (name) => {
    const open = SHARED[name]()
    const { place, kill } = killable(open())
    const [one, two] = [writing('Lost words.', true), writing('Whole answer.', false)]
    const times = { leaseTtlMs: 700, cancelGraceMs: 5 }
    const lost = await serveAgents({ agent: one.agent }, { ...place, ...times }, true)
    const client = clientOf(GENERATIONS[0], lost.base)
    const { threadId } = client
    client.say('Hello')
    const running = client.agent.runAgent()
    await one.atWork
    const next = await serveAgents({ agent: two.agent }, { ...open(), ...times })
    const followers = GENERATIONS.map((generation) => clientOf(generation, next.base, { threadId }))
    const seen: string[] = []
    followers[0]!.agent.subscribe({
      onMessagesChanged: ({ messages }) => {
        const texts = messages
          .filter(({ role }) => role === 'assistant')
          .map(({ content }) => String(content))
        seen.push(texts.join('|'))
      },
    })
    const following = followers.map(({ agent }) => agent.connectAgent())
    await eventually(() => followers.every(({ types }) => types().includes('TEXT_MESSAGE_END')))
    kill()
    await Promise.all(following)
    for (const { agent, last } of followers) {
      expect(agent.messages.map(({ content }) => content)).toEqual(['Hello', 'Whole answer.'])
      expect(last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    }
    expect(seen).toContain('Lost words.')
    expect(seen.filter((text) => text.includes('Lost') && text.includes('Whole'))).toEqual([])
    // Its own server tells it that its run goes on elsewhere, or that it is gone.
    await lost.close()
    await running
    expect(client.last().type).toBe('RUN_ERROR')
  },
)

test.each(GENERATIONS)(
  'a client of $name that has missed what the log has dropped gets the newest state',
  async (generation) => {
    const written = gate()
    const read = gate()
    const agent = defineAgent({
      async run({ message }) {
        await message('First.')
        await read.opened
        for (let at = 0; at < 60; at++) await message(`${at} ${'x'.repeat(200)}`)
        written.open()
      },
    })
    const { base, server } = await serveAgents({ agent }, SHARED.memory({ maxThreadBytes: 20_000 })())
    /** The request without a socket, whose buffers would hold all of it, so that the client falls behind. */
    const send = async (url: string, init: RequestInit) => {
      const response = await server.fetch(new Request(url, init))
      const reader = response.body!.getReader()
      const decoder = new TextDecoder()
      let text = ''
      for (;;) {
        const { value, done } = await reader.read()
        if (done) return new Response(text, response)
        text += decoder.decode(value, { stream: true })
        if (!text.includes('First.')) continue
        read.open()
        await written.opened
      }
    }
    const client = clientOf(generation, base, { send })
    client.say('Hello')
    await client.agent.runAgent()
    expect(client.types().filter((type) => type === 'MESSAGES_SNAPSHOT').length).toBeGreaterThan(1)
    expect(client.agent.messages).toHaveLength(62)
    const late = await connected(generation, base, { threadId: client.threadId })
    expect(late.agent.messages).toEqual(client.agent.messages)
  },
)

test('a server that closes ends the streams with an error, and the run is not told as done', async () => {
  const { agent } = slow()
  const served = await serveAgents({ agent }, {}, true)
  const client = clientOf(GENERATIONS[1], served.base)
  client.say('Hello')
  const running = client.agent.runAgent()
  await eventually(() => client.types().includes('TEXT_MESSAGE_CONTENT'))
  await served.close()
  await running
  expect(client.last().type).toBe('RUN_ERROR')
})
