import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type AgentEngine, headOf } from '../../src/engine/index.ts'
import { decodeMessage, type Message, textOf } from '../../src/messages/index.ts'
import {
  createFold,
  type Folded,
  type LogGap,
  type ThreadEvent,
} from '../../src/messages/thread-events/index.ts'
import { calculator, chat, researchers, twoApprovals } from '../fixtures/graphs.ts'
import { engineOf } from '../kit/engine.ts'

type Event = ThreadEvent | LogGap

const threadId = 't'
const ask = { messages: [{ type: 'human', content: 'Go on.' }] }

async function eventsOf(engine: AgentEngine, input: unknown = ask, rest: object = {}): Promise<Event[]> {
  const after = (await engine.findThread({ threadId })) ? await headOf(engine, { threadId }) : 0
  const { runId } = await engine.start({ threadId, assistantId: 'a', input, ...rest })
  const events: Event[] = []
  for await (const event of engine.events({ threadId, runId, after })) events.push(event)
  return events
}

function folded(events: readonly Event[]): Folded {
  const fold = createFold()
  for (const event of events) fold.push(event)
  return fold.read()
}

async function stateOf(engine: AgentEngine): Promise<readonly Message[]> {
  const state = await engine.readState((await engine.findThread({ threadId }))!)
  return (state!.values.messages as readonly unknown[]).map((one) => decodeMessage(one)!)
}

const rootOf = ({ messages }: Folded): readonly Message[] =>
  messages.filter(({ toolCallId }) => toolCallId === null).map(({ message }) => message)

function serve(agent: Agent): AgentEngine {
  const engine = engineOf({ a: agent })
  onTestFinished(() => engine.close())
  return engine
}

const deep = defineAgent({
  async run({ subagent, message, tool }) {
    const sum = await tool('add', { a: 1, b: 2 }, ({ output }) => {
      output('adding')
      return 3
    })
    const found = await subagent('researcher', 'Find x', async ({ message: say, tool: use }) => {
      await say('Searching.')
      await say(`I found ${await use('search', { q: 'x' }, () => 'x is 42')}`)
    })
    await message(`${found} ${sum}`)
  },
})

const AGENTS: Readonly<Record<string, () => Agent>> = {
  'a model in a graph': () => langgraph(chat()),
  'a graph with tools': () => langgraph(calculator()),
  'a graph with a subagent': () => langgraph(researchers()),
  'a function with a tool and a subagent': () => deep,
}

test.each(Object.entries(AGENTS))('what %s has sent is what its state holds', async (_, agent) => {
  const engine = serve(agent())
  const events = [...(await eventsOf(engine)), ...(await eventsOf(engine))]
  const whole = folded(events)
  expect(whole.status).toBe('completed')
  expect(rootOf(whole)).toEqual(await stateOf(engine))
  expect(whole.messages.every(({ isFinished }) => isFinished)).toBe(true)
  expect(whole.toolCalls.every(({ status }) => status === 'finished')).toBe(true)
  expect(whole.interrupts).toEqual([])
})

test.each(Object.entries(AGENTS))(
  'of %s a reader that comes in the middle has the messages of all others once a state has come',
  async (_, agent) => {
    const engine = serve(agent())
    const events = [...(await eventsOf(engine)), ...(await eventsOf(engine))]
    const state = await stateOf(engine)
    const lastState = events.findLastIndex(
      (event) => event.type === 'event' && event.method === 'values' && event.namespace.length === 0,
    )
    fc.assert(
      fc.property(fc.nat({ max: lastState }), (from) => {
        expect(rootOf(folded(events.slice(from)))).toEqual(state)
      }),
    )
  },
)

test.each(Object.entries(AGENTS))('the texts of %s only grow', async (_, agent) => {
  const events = await eventsOf(serve(agent()))
  const texts = new Map<string, string>()
  const fold = createFold()
  for (const event of events) {
    fold.push(event)
    for (const { message, toolCallId, isFinished } of fold.read().messages) {
      const key = `${toolCallId} ${message.id}`
      const before = texts.get(key) ?? ''
      const now = textOf(message)
      expect(now.startsWith(before)).toBe(true)
      if (isFinished) expect(now.length).toBeGreaterThanOrEqual(before.length)
      texts.set(key, now)
    }
  }
})

test('calls know the subagent that made them, and messages the one that wrote them', async () => {
  const { toolCalls, messages } = folded(await eventsOf(serve(deep)))
  const [add, task, search] = toolCalls
  expect(toolCalls.map(({ name }) => name)).toEqual(['add', 'task', 'search'])
  expect(add).toMatchObject({ parentId: null, status: 'finished', output: 'adding', input: '{"a":1,"b":2}' })
  expect(textOf(add!.result!)).toBe('3')
  expect(search).toMatchObject({ parentId: task!.id, status: 'finished' })
  const inner = messages
    .filter(({ toolCallId }) => toolCallId === task!.id)
    .map(({ message }) => textOf(message))
  expect(inner).toContain('Searching.')
  expect(inner).toContain('I found x is 42')
})

test('questions are there until they are answered, also one that is left open', async () => {
  const engine = serve(langgraph(twoApprovals()))
  const first = await eventsOf(engine, { notes: [] })
  const asked = folded(first)
  expect(asked.status).toBe('interrupted')
  expect(asked.interrupts).toHaveLength(2)
  const open = (await engine.findThread({ threadId }))!.interrupts
  expect(asked.interrupts.map(({ id }) => id).sort()).toEqual(open.map(({ id }) => id).sort())
  expect(asked.interrupts.map(({ value }) => value)).toEqual(
    asked.interrupts.map(({ id }) => open.find((one) => one.id === id)!.value),
  )
})

test('a message that a lost attempt left open is taken back', () => {
  const at = { type: 'event', namespace: [], node: 'n', timestamp: 0, runId: 'r' } as const
  const event = (seq: number, data: ThreadEvent<'messages'>['data'], more = {}): ThreadEvent =>
    ({ ...at, method: 'messages', eventId: `1-${seq}`, seq, data, ...more }) as ThreadEvent
  const start = event(1, { event: 'message-start', id: 'm', role: 'ai' })
  const text = event(2, { event: 'content-block-start', index: 0, content: { type: 'text', text: 'Half' } })
  const lost = event(3, { event: 'error', message: 'Lost.', code: 'superseded' }, { superseded: true })
  expect(folded([start, text]).messages.map(({ message }) => textOf(message))).toEqual(['Half'])
  expect(folded([start, text, lost]).messages).toEqual([])
  expect(folded([start, text, { type: 'gap', after: 2, firstRetained: 9 }]).messages).toEqual([])
})
