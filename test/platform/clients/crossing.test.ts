import type { Client } from '@langchain/langgraph-sdk'
import { describe, expect, onTestFinished, test } from 'vitest'
import WebSocket from 'ws'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { approval, chat, inOrder, threeSteps, twoApprovals } from '../../fixtures/graphs.ts'
import type { Json } from '../../kit/events.ts'
import { hasPostgres } from '../../kit/postgres-server.ts'
import { all, twoInstances } from './instances.ts'

const agents = {
  chat: langgraph(chat(inOrder({ text: 'one two three' }))),
  approval: langgraph(approval()),
  both: langgraph(twoApprovals()),
  slow: langgraph(
    threeSteps((name, { signal }) =>
      name === 'one'
        ? undefined
        : new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    ),
  ),
}

const input = { messages: [{ type: 'human', content: 'go', id: 'h' }] }

const protocolThread = (
  client: Client,
  threadId: string,
  assistantId: string,
  transport: 'sse' | 'websocket' = 'sse',
) => {
  const thread = client.threads.stream(threadId, {
    assistantId,
    transport,
    webSocketFactory: (url: string) => new WebSocket(url),
  } as never)
  onTestFinished(() => thread.close())
  return thread
}

const settled = async (client: Client<Json>, threadId: string): Promise<Json> => {
  for (;;) {
    const thread = await client.threads.get(threadId)
    if (thread.status !== 'busy') return thread
  }
}

describe.runIf(hasPostgres())('two instances over Postgres', () => {
  test.each(['sse', 'websocket'] as const)(
    'a run of the REST is watched over the protocol by %s elsewhere, token by token',
    async (transport) => {
      const { a, b } = await twoInstances(agents)
      const { thread_id } = await a.threads.create()
      const thread = protocolThread(b, thread_id, 'chat', transport)
      const tokens: string[] = []
      const reading = (async () => {
        for await (const message of thread.messages) {
          for await (const text of message.text) tokens.push(text)
          break
        }
      })()
      const values = await a.runs.wait(thread_id, 'chat', { input })
      await reading
      expect(tokens.join('')).toBe('one two three')
      expect(tokens.length).toBeGreaterThan(1)
      expect((values as Json).messages[1].content).toBe('one two three')
    },
  )

  test('a run of the REST is seen from its start by a stream of the protocol that is opened afterwards', async () => {
    const { a, b } = await twoInstances(agents)
    const { thread_id } = await a.threads.create()
    await a.runs.wait(thread_id, 'chat', { input })
    const thread = protocolThread(b, thread_id, 'chat')
    for await (const message of thread.messages) {
      expect(await message.text).toBe('one two three')
      break
    }
  })

  test('an interrupt of a run of the REST is answered over the protocol elsewhere, and the reverse', async () => {
    const { a, b } = await twoInstances(agents)
    const [first, second] = [await a.threads.create(), await a.threads.create()]
    await a.runs.wait(first.thread_id, 'approval', { input: { notes: ['in'] } })
    const asked = await b.threads.get(first.thread_id)
    const [[interrupt]] = Object.values(asked.interrupts) as Json
    const answered = protocolThread(b, first.thread_id, 'approval')
    await answered.input.respond({ interrupt_id: interrupt.id, response: 'yes', namespace: [] } as Json)

    const started = protocolThread(a, second.thread_id, 'approval')
    await started.run.start({ input: { notes: ['in'] } })
    expect((await settled(b, second.thread_id)).status).toBe('interrupted')
    await b.runs.wait(second.thread_id, 'approval', { command: { resume: 'yes' } })

    await settled(a, first.thread_id)
    const [one, two] = await Promise.all(
      [first, second].map(async ({ thread_id }) => (await a.threads.getState(thread_id)).values),
    )
    expect(one).toEqual({ notes: ['in', 'answer: yes', 'after'] })
    expect(two).toEqual(one)
  })

  test('of two interrupts one is answered over each', async () => {
    const { a, b } = await twoInstances(agents)
    const { thread_id } = await a.threads.create()
    await a.runs.wait(thread_id, 'both', { input: { notes: [] } })
    const open = (Object.values((await b.threads.get(thread_id)).interrupts) as Json).flat()
    const [left, right] = ['left?', 'right?'].map((value) => open.find((one: Json) => one.value === value))
    await protocolThread(b, thread_id, 'both').input.respond({
      interrupt_id: left.id,
      response: 'l',
      namespace: [],
    } as Json)
    expect((await settled(a, thread_id)).status).toBe('interrupted')
    const values = await a.runs.wait(thread_id, 'both', { command: { resume: { [right.id]: 'r' } } })
    expect(values).toEqual({ notes: ['left: l', 'right: r', 'after'] })
  })

  test('a run is cancelled through the other instance, whichever way it was started', async () => {
    const { a, b } = await twoInstances(agents)
    const { thread_id } = await a.threads.create()
    const { run_id } = await a.runs.create(thread_id, 'slow', { input: { notes: [] } })
    await b.runs.cancel(thread_id, run_id, true)
    expect((await a.runs.get(thread_id, run_id)).status).toBe('interrupted')
    const thread = protocolThread(a, thread_id, 'slow')
    const again = await thread.run.start({ input: { notes: [] } })
    expect((await b.runs.get(thread_id, again.run_id!)).status).toMatch(/pending|running/)
    await b.runs.cancel(thread_id, again.run_id!, true)
    expect((await a.runs.get(thread_id, again.run_id!)).status).toBe('interrupted')
    expect((await b.threads.get(thread_id)).status).not.toBe('busy')
  })

  test('a stream of the REST is joined elsewhere with the same frames and ids, after any of them', async () => {
    const { a, b } = await twoInstances(agents)
    const { thread_id } = await a.threads.create()
    const source = await all(
      a.runs.stream(thread_id, 'chat', {
        input,
        streamMode: ['messages', 'values', 'updates'],
        streamResumable: true,
      }),
    )
    const run_id = source[0].data.run_id
    expect(await all(b.runs.joinStream(thread_id, run_id, { lastEventId: '-1' }))).toEqual(source)
    for (const [at, { id }] of source.entries())
      expect(await all(b.runs.joinStream(thread_id, run_id, { lastEventId: id }))).toEqual(
        source.slice(at + 1),
      )
  })

  test('a run of the protocol is joined over the REST elsewhere', async () => {
    const { a, b } = await twoInstances(agents)
    const { thread_id } = await a.threads.create()
    const { run_id } = await protocolThread(a, thread_id, 'chat').run.start({ input })
    const values = await b.runs.join(thread_id, run_id!)
    expect((values as Json).messages[1].content).toEqual([{ type: 'text', text: 'one two three' }])
    const frames = await all(
      b.runs.joinStream(thread_id, run_id!, { lastEventId: '-1', streamMode: ['values'] }),
    )
    expect(frames.at(-1)).toMatchObject({ event: 'values', data: values })
    expect(frames[0]).toMatchObject({ event: 'metadata', data: { run_id } })
  })
})
