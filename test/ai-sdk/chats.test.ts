import { afterEach, describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { aiSdk } from '../../src/ai-sdk/index.ts'
import { calculator, chat as chatGraph } from '../fixtures/graphs.ts'
import { serveAgents } from '../kit/host.ts'
import { historyOf, LIBRARIES, openChat, refusedChunks, shownOf, textOf } from './clients.ts'

afterEach(() => expect(refusedChunks).toEqual([]))

const serve = (graph: Parameters<typeof langgraph>[0]) =>
  serveAgents({ agents: { a: langgraph(graph) }, faces: [aiSdk()] })

describe.each(Object.entries(LIBRARIES))('the client of ai %s', (_, library) => {
  test('gets an answer, whose history is the same', async () => {
    const { origin } = await serve(chatGraph())
    const { chat, responses, ends } = openChat({ origin, library })
    await chat.sendMessage({ text: 'Hello' })
    expect(chat.error).toBeUndefined()
    expect(await ends()).toEqual(['done'])
    expect(textOf(chat.lastMessage)).toBe('Hello to you.')
    expect(Object.fromEntries(responses[0]!.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'x-vercel-ai-ui-message-stream': 'v1',
      'x-accel-buffering': 'no',
    })
    expect(shownOf(await historyOf(origin))).toEqual(shownOf(chat.messages))
  })

  test('sees a tool called by the agent', async () => {
    const { origin } = await serve(calculator())
    const { chat, chunks } = openChat({ origin, library })
    await chat.sendMessage({ text: 'What is 2 and 3?' })
    expect(shownOf(await historyOf(origin))).toEqual(shownOf(chat.messages))
  })
})
