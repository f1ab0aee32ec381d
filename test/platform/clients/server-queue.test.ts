import { Client } from '@langchain/langgraph-sdk'
import { StreamController } from '@langchain/langgraph-sdk/stream'
import { expect, onTestFinished, test } from 'vitest'
import WebSocket from 'ws'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { hesitant } from '../../threads/sdk/graphs.ts'

/** A page of LangGraph's SDK whose queue is that of the server, as far as it has no browser. */
function openPage(apiUrl: string, threadId: string | null, transport: 'sse' | 'websocket') {
  const controller = new StreamController<Json>({
    assistantId: 'agent',
    client: new Client({ apiUrl, apiKey: null }),
    threadId,
    queue: 'server',
    transport,
    webSocketFactory: (url) => new WebSocket(url) as never,
  })
  onTestFinished(controller.activate())
  const root = () => controller.rootStore.getSnapshot()
  return {
    controller,
    threadId: () => root().threadId,
    say: (text: string, options = {}) =>
      void controller.submit({ messages: [{ type: 'human', content: text }] }, options),
    queue: () => controller.queueStore.getSnapshot().map(({ values }: Json) => values.messages[0].content),
    shown: () => ({ loading: root().isLoading, messages: root().messages.map(({ text }) => text) }),
  }
}

test.each(['sse', 'websocket'] as const)(
  'messages wait in the queue of the server, over %s, and every page sees it',
  async (transport) => {
    const { graph, reached, release } = hesitant()
    const host = await serveAgents({ agents: { agent: langgraph(graph) } })
    const page = openPage(host.origin, null, transport)
    page.say('one')
    await reached
    const threadId = () => page.threadId()!
    const statuses = async () =>
      (await host.thread(threadId()).get('/runs')).body.map(({ status }: Json) => status).sort()
    const waiting: string[] = []
    for (const text of ['two', 'three', 'four']) {
      page.say(text, { multitaskStrategy: 'enqueue' })
      waiting.push('pending')
      await expect.poll(statuses).toEqual([...waiting, 'running'])
    }
    const second = openPage(host.origin, threadId(), transport)
    await expect.poll(() => second.queue().toSorted()).toEqual(['four', 'three', 'two'])
    const [, three] = page.controller.queueStore.getSnapshot()
    await page.controller.cancelQueued(three!.id)
    expect(page.queue()).toEqual(['two', 'four'])
    release()
    const answer = 'one two three four'
    const whole = { loading: false, messages: ['one', 'two', 'four'].flatMap((text) => [text, answer]) }
    await expect.poll(page.shown).toEqual(whole)
    await expect.poll(second.shown).toEqual(whole)
    await expect.poll(() => [...page.queue(), ...second.queue()]).toEqual([])
    expect(await statuses()).toEqual(['interrupted', 'success', 'success', 'success'])
  },
)
