import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgentServer } from '../../src/index.ts'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import { copyCheckpoints } from '../../src/storage/checkpointer/copy.ts'
import { chat } from '../fixtures/graphs.ts'
import { unexpectedErrors } from '../kit/errors.ts'
import { sharedFile } from '../kit/shared.ts'
import { STORES } from '../kit/stores.ts'
import { turnsDuring } from '../kit/turns.ts'

/** Threads as many runs leave them, and as one long chat does. */
const SHAPES = [
  { checkpoints: 1_500, messages: 20 },
  { checkpoints: 40, messages: 1_000 },
]

async function fill(
  saver: Checkpointer,
  threadId: string,
  { checkpoints, messages: count }: Shape,
): Promise<void> {
  let parent: string | undefined
  const messages = Array.from({ length: count }, (_, at) => ({
    type: at % 2 ? 'ai' : 'human',
    content: `message ${at}`,
    id: `m${at}`,
  }))
  for (let step = 0; step < checkpoints; step++) {
    const id = `1f000000-0000-6000-8000-${String(step).padStart(12, '0')}`
    await saver.put(
      { configurable: { thread_id: threadId, checkpoint_ns: '', ...(parent && { checkpoint_id: parent }) } },
      {
        v: 4,
        id,
        ts: new Date(1_767_225_600_000 + step).toISOString(),
        channel_values: { messages, step },
        channel_versions: { messages: 1, step: step + 1 },
        versions_seen: {},
      },
      { source: 'loop', step, parents: {} },
      { ...(step === 0 && { messages: 1 }), step: step + 1 },
    )
    parent = id
  }
}

type Shape = (typeof SHAPES)[number]

const cases = STORES.flatMap((store) => SHAPES.map((shape) => ({ ...store, ...shape })))

test.each(cases)(
  'reads of a long thread let the event loop turn: $name, $checkpoints checkpoints, $messages messages',
  async ({ create, ...shape }) => {
    const place = await (await create())()
    const { reporters } = unexpectedErrors()
    const server = createAgentServer({ agents: { chat: langgraph(chat()) }, ...place, ...reporters })
    onTestFinished(() => server.close())
    const send = async (path: string, body?: object, method = body ? 'POST' : 'GET') => {
      const answer = await server.fetch(
        new Request(`http://127.0.0.1${path}`, {
          method,
          headers: { 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        }),
      )
      const text = await answer.text()
      expect(answer.status, `${path} ${text.slice(0, 200)}`).toBe(200)
      return JSON.parse(text)
    }
    const threadId = randomUUID()
    await send('/threads', { thread_id: threadId, metadata: { graph_id: 'chat' } })
    await fill(place.checkpointer, threadId, shape)

    const limits = { turns: shape.checkpoints > 1_000 ? 4 : 0, longest: 1_000 }
    const told: object[] = []
    const measured = async (name: string, work: () => Promise<unknown>, least = limits.turns) => {
      const { turns, longest } = await turnsDuring(work)
      told.push({
        name,
        turns,
        longest: Math.round(longest),
        isRight: turns >= least && longest < limits.longest,
      })
    }
    await measured('copy', () =>
      copyCheckpoints(place.checkpointer, place.checkpointer, { from: threadId, to: randomUUID() }),
    )
    await measured('copy of the thread', () => send(`/threads/${threadId}/copy`, {}))
    await measured('history', () => send(`/threads/${threadId}/history`, { limit: 1_000 }))
    await measured(
      'history by metadata',
      () => send(`/threads/${threadId}/history`, { limit: 1_000, metadata: { step: 3 } }),
      0,
    )
    await measured('state', () => send(`/threads/${threadId}/state`), 0)
    await measured('search', () => send('/threads/search', { values: { step: 1 } }), 0)
    await measured('thread', () => send(`/threads/${threadId}`), 0)
    expect(told).toEqual(told.map((one) => ({ ...one, isRight: true })))
  },
)

test('a copy of 1,000 checkpoints keeps its lease while another instance works in the same file', async () => {
  const open = sharedFile()
  const { reporters } = unexpectedErrors()
  const options = { agents: { chat: langgraph(chat()) }, leaseTtlMs: 5_000, ...reporters }
  const places = [open(), open()] as const
  const [a, b] = places.map((place) => createAgentServer({ ...options, ...place }).engine)
  onTestFinished(async () => void (await Promise.all([a!.close(), b!.close()])))
  const checkpoints = 1_000
  await a!.createThread({ threadId: 'long', metadata: { graph_id: 'chat' } })
  await fill(places[0].checkpointer, 'long', { checkpoints, messages: 20 })

  let isOver = false
  let runs = 0
  const work = async () => {
    while (!isOver) {
      const threadId = randomUUID()
      const input = { messages: [{ role: 'user', content: 'hi' }] }
      const { runId } = await b!.start({ threadId, assistantId: 'chat', input })
      expect(await b!.wait({ threadId, runId })).toMatchObject({ status: 'success' })
      runs++
    }
  }
  const working = work()
  const { longest } = await turnsDuring(async () => {
    await a!.copyThread({ threadId: 'long', newThreadId: 'copy' })
  })
  isOver = true
  await working
  expect(runs).toBeGreaterThan(0)
  expect(longest).toBeLessThan(1_000)
  let copied = 0
  for await (const _ of places[1].checkpointer.list({ configurable: { thread_id: 'copy' } })) copied++
  expect(copied).toBe(checkpoints)
  expect(await b!.findThread({ threadId: 'copy' })).toMatchObject({ status: 'idle', activeRunId: null })
}, 240_000)
