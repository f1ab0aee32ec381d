import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import {
  type AgentEngine,
  type AgentEngineOptions,
  headOf,
  type ThreadSnapshot,
} from '../../src/engine/index.ts'
import { decodeMessage, type Message, textOf } from '../../src/messages/index.ts'
import {
  createFold,
  type Folded,
  type LogGap,
  type ThreadEvent,
} from '../../src/messages/thread-events/index.ts'
import { approval, calculator, chat, researchers, twoApprovals } from '../fixtures/graphs.ts'
import { PLACES } from '../kit/databases.ts'
import { engineOf } from '../kit/engine.ts'
import { eventually, gate } from '../kit/wait.ts'

type Event = ThreadEvent | LogGap

const threadId = 't'
const ask = { messages: [{ type: 'human', content: 'Go on.' }] }

function serve(agent: Agent, options: Partial<AgentEngineOptions> = {}): AgentEngine {
  const engine = engineOf({ a: agent }, options)
  onTestFinished(() => engine.close())
  return engine
}

function fold(events: Iterable<Event>): Folded {
  const folded = createFold()
  for (const event of events) folded.push(event)
  return folded.read()
}

/** The messages that a reader has who adds the events after a snapshot to its state. */
function messagesAfter({ state }: ThreadSnapshot, events: readonly Event[]): readonly Message[] {
  const before = (state?.values.messages ?? []) as readonly unknown[]
  const values = { method: 'values', namespace: [], data: { messages: before } }
  const start = { type: 'event', eventId: 'x', seq: 0, timestamp: 0, runId: '', ...values } as ThreadEvent
  return rootOf(fold([start, ...events]))
}

const rootOf = ({ messages }: Folded): readonly Message[] =>
  messages.filter(({ toolCallId }) => toolCallId === null).map(({ message }) => message)

async function stateOf(engine: AgentEngine): Promise<readonly Message[]> {
  const state = await engine.readState((await engine.findThread({ threadId }))!)
  return ((state!.values.messages ?? []) as readonly unknown[]).map((one) => decodeMessage(one)!)
}

const seqsOf = (events: readonly Event[]): readonly number[] =>
  events.map((event) => (event.type === 'event' ? event.seq : -1))

/** Messages that are written at the same time, each in its own pace, and calls of tools between them. */
const busy = defineAgent({
  async run({ message, tool, subagent }) {
    const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 2))
    const write = async (name: string, parts: number) => {
      const writer = message()
      for (let at = 0; at < parts; at++) {
        await writer.text(`${name}${at} `)
        await pause()
      }
      await writer.end()
    }
    await Promise.all([write('a', 5), write('b', 2)])
    await tool('add', { a: 1 }, async ({ output }) => {
      output('adding')
      await pause()
      return 3
    })
    await Promise.all([
      write('c', 3),
      subagent('researcher', 'Find x', async ({ message: say }) => {
        await say('Searching.')
        await pause()
        await say('Found.')
      }),
    ])
    await write('d', 4)
  },
})

const AGENTS: Readonly<Record<string, () => Agent>> = {
  'a model in a graph': () => langgraph(chat()),
  'a graph with tools': () => langgraph(calculator()),
  'a graph with a subagent': () => langgraph(researchers()),
  'a function that does several things at once': () => busy,
}

describe.each(Object.entries(AGENTS))('snapshots of %s', (_, agent) => {
  test('that are taken at any moment, with the events after them, are the whole', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 6 }), async (delays) => {
        const engine = engineOf({ a: agent() })
        try {
          const before = await engine.follow({ threadId, start: { input: ask } })
          await before.ended()
          const answer = await engine.follow({ threadId, start: { input: ask } })
          const snapshots: ThreadSnapshot[] = []
          for (const delay of delays) {
            await new Promise((resolve) => setTimeout(resolve, delay))
            snapshots.push((await engine.snapshot({ threadId }))!)
          }
          await answer.ended()
          const log: Event[] = []
          const last = (await engine.snapshot({ threadId }))!
          for await (const event of engine.events({ threadId })) {
            log.push(event)
            if (event.type === 'event' && event.seq === last.seq) break
          }
          const state = await stateOf(engine)
          expect(rootOf(fold(log))).toEqual(state)
          expect(last).toMatchObject({ answer: null, questions: [], seq: log.length })
          for (const snapshot of [...snapshots, last]) {
            const rest = log.filter((event) => event.type === 'event' && event.seq > snapshot.seq)
            expect(messagesAfter(snapshot, rest)).toEqual(state)
            // Nothing that began before is still going on.
            const started = new Set<string>()
            for (const event of rest)
              if (event.type === 'event' && event.method === 'messages') {
                const key = JSON.stringify([event.namespace, event.node, event.data.run_id])
                if (event.data.event === 'message-start') started.add(key)
                else expect(started).toContain(key)
              }
            if (!snapshot.answer) continue
            expect(snapshot.answer.taskId).toBe(answer.id)
            const follows = await engine.follow({ threadId, answerId: answer.id, after: snapshot.seq })
            const followed: Event[] = []
            for await (const event of follows!) followed.push(event)
            expect(seqsOf(followed)).toEqual(seqsOf(rest))
          }
        } finally {
          await engine.close()
        }
      }),
      { numRuns: 12 },
    )
  })
})

test('the state is that of the newest moment at which nothing is half written', async () => {
  const half = gate()
  const told = gate()
  const engine = serve(
    defineAgent({
      async run({ message }) {
        await message('Whole.')
        const writer = message()
        await writer.text('Half ')
        told.open()
        await half.opened
        await writer.text('done')
        await writer.end()
      },
    }),
  )
  const answer = await engine.follow({ threadId, start: { input: ask } })
  await told.opened
  const textsNow = async () => messagesAfter((await engine.snapshot({ threadId }))!, []).map(textOf)
  await eventually(async () => (await textsNow()).length === 2)
  const isWriting = async () =>
    (await headOf(engine, { threadId })) > (await engine.snapshot({ threadId }))!.seq
  await eventually(isWriting)
  const snapshot = (await engine.snapshot({ threadId }))!
  expect(messagesAfter(snapshot, []).map(textOf)).toEqual(['Go on.', 'Whole.'])
  expect(snapshot.answer).toMatchObject({ taskId: answer.id, state: 'working' })
  half.open()
  const rest: Event[] = []
  const follows = await engine.follow({ threadId, answerId: answer.id, after: snapshot.seq })
  for await (const event of follows!) rest.push(event)
  expect(messagesAfter(snapshot, rest).map(textOf)).toEqual(['Go on.', 'Whole.', 'Half done'])
})

describe.each(PLACES)('a snapshot in $name', ({ open }) => {
  test('has the questions that are open at its position, and the answer that has asked them', async () => {
    const engine = serve(langgraph(twoApprovals()), await open())
    const asks = await engine.follow({ threadId, start: { input: { notes: [] } } })
    await asks.ended()
    const asked = (await engine.snapshot({ threadId }))!
    expect(asked.questions.map(({ value }) => value).sort()).toEqual(['left?', 'right?'])
    expect(asked.answer).toMatchObject({ taskId: asks.id, state: 'input-required' })
    expect(asked.state!.next).toEqual(['left', 'right'])
    const answers = Object.fromEntries(asked.questions.map(({ id }) => [id, 'yes']))
    await engine.respond({ threadId, answers })
    const rest = (await engine.follow({ threadId, answerId: asks.id, after: asked.seq }))!
    await rest.ended()
    const over = (await engine.snapshot({ threadId }))!
    expect(over).toMatchObject({ questions: [], answer: null })
    expect(over.state!.values.notes).toEqual(['left: yes', 'right: yes', 'after'])
    expect(over.seq).toBeGreaterThan(asked.seq)
  })
})

test('before the first checkpoint, and of a thread that is not there', async () => {
  const engine = serve(langgraph(approval()))
  expect(await engine.snapshot({ threadId })).toBeUndefined()
  await engine.createThread({ threadId })
  const snapshot = (await engine.snapshot({ threadId }))!
  expect(snapshot).toMatchObject({ state: undefined, questions: [], answer: null, seq: 0 })
})

test('a state that is written outside of a run is in the next one', async () => {
  const engine = serve(langgraph(chat()))
  await engine.writeState({ threadId, values: ask, newThread: { assistantId: 'a' } })
  expect(messagesAfter((await engine.snapshot({ threadId }))!, []).map(textOf)).toEqual(['Go on.'])
})
