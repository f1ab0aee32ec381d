import { Client } from '@langchain/langgraph-sdk'
import {
  extensionProjection,
  messagesProjection,
  StreamController,
  toolCallsProjection,
} from '@langchain/langgraph-sdk/stream'
import { expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../../src/agents/agent.ts'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import { serveAgents } from '../../kit/host.ts'
import { untilStore } from '../../kit/stream-store.ts'
import { eventually } from '../../kit/wait.ts'

/** The controller under React's `useStream`, against a real server. */
async function open(agent: Agent, threadId: string, origin?: string) {
  const apiUrl = origin ?? (await serveAgents({ agents: { agent } })).origin
  const client = new Client({ apiUrl, callerOptions: { maxRetries: 0 } })
  const controller = new StreamController({ assistantId: 'agent', client, threadId })
  onTestFinished(() => controller.dispose())
  await controller.hydrate(threadId)
  return { origin: apiUrl, client, controller, root: controller.rootStore }
}

const ask = (content: string) => ({ messages: [{ type: 'human', content, id: crypto.randomUUID() }] })
const spoken = (messages: readonly { readonly type: string; readonly text: string }[]) =>
  messages.map(({ type, text }) => `${type}: ${text}`)

const deep = defineAgent({
  async run({ subagent, tool, message, custom }) {
    await custom('phase', 'start')
    const hits = await Promise.all([
      subagent('researcher', 'Find x', async ({ message: say, tool: use }) => {
        const m = say()
        for (const word of ['Looking ', 'for ', 'x.']) await m.text(word)
        await m.end()
        await use('search', { q: 'x' }, () => 'a page')
        await say('x is 42.')
      }),
      subagent('checker', 'Check x', async ({ message: say }) => {
        await say('x is even.')
      }),
    ])
    const sum = await tool('add', { a: 40, b: 2 }, () => ({ sum: 42 }))
    await message(`${hits.join(' ')} ${sum.sum}`)
  },
})

test('the client shows text, tools, subagents and custom events, live and after a reload', async () => {
  const { origin, controller, root } = await open(deep, 'deep')
  const phase = controller.registry.acquire(extensionProjection<string>('phase', []))
  await controller.submit(ask('What is x?'))
  const done = await untilStore(root, ({ isLoading, messages }) => !isLoading && messages.length === 7)
  expect(done.error).toBeUndefined()
  const conversation = [
    'human: What is x?',
    'ai: ',
    'tool: x is 42.',
    'tool: x is even.',
    'ai: ',
    'tool: {"sum":42}',
    'ai: x is 42. x is even. 42',
  ]
  expect(spoken(done.messages).toSorted()).toEqual(conversation.toSorted())
  expect(done.toolCalls.map(({ name, status, output }) => [name, status, output])).toContainEqual([
    'add',
    'finished',
    { sum: 42 },
  ])
  expect(await untilStore(phase.store, (value) => value !== undefined)).toBe('start')

  const cards = [...controller.subagentStore.getSnapshot().values()]
  expect(cards.map(({ name, status, taskInput }) => [name, status, taskInput])).toEqual([
    ['researcher', 'complete', 'Find x'],
    ['checker', 'complete', 'Check x'],
  ])
  const work = ['human: Find x', 'ai: Looking for x.', 'ai: ', 'tool: a page', 'ai: x is 42.']
  const live = controller.registry.acquire(messagesProjection(cards[0]!.namespace))
  expect(spoken(await untilStore(live.store, (messages) => messages.length === work.length))).toEqual(work)
  const calls = controller.registry.acquire(toolCallsProjection(cards[0]!.namespace))
  expect(
    await untilStore(calls.store, (list) => list.some(({ status }) => status === 'finished')),
  ).toMatchObject([{ name: 'search', output: 'a page' }])

  const again = await open(deep, 'deep', origin)
  const reloaded = await untilStore(again.root, ({ messages }) => messages.length === 7)
  expect(reloaded.isLoading).toBe(false)
  expect(spoken(reloaded.messages)).toEqual(spoken(done.messages))
  const shown = await untilStore(again.controller.subagentStore, (map) =>
    [...map.values()].every(({ id, namespace }) => namespace[0] !== `tools:${id}`),
  )
  expect([...shown.values()].map(({ name, status, namespace }) => [name, status, namespace])).toEqual(
    cards.map(({ name, status, namespace }) => [name, status, namespace]),
  )
  const kept = again.controller.registry.acquire(messagesProjection([...shown.values()][0]!.namespace))
  expect(spoken(await untilStore(kept.store, (messages) => messages.length === work.length))).toEqual(work)
})

const asking = defineAgent({
  async run({ message, interrupt, tool }) {
    await message('Before.')
    const [name, sure] = await Promise.all([
      interrupt<string>({ question: 'Name?' }),
      tool('confirm', {}, ({ interrupt: inside }) => inside<boolean>({ question: 'Sure?' })),
    ])
    await message(`${name}, ${sure}.`)
  },
})

test('the client shows interrupts live and after a reload, and answers them one by one without duplicates', async () => {
  const { origin, controller, root } = await open(asking, 'asking')
  await controller.submit(ask('go'))
  const waiting = await untilStore(
    root,
    (snapshot) => !snapshot.isLoading && snapshot.interrupts.length === 2,
  )
  expect(waiting.interrupts.map(({ value }) => value)).toEqual([{ question: 'Name?' }, { question: 'Sure?' }])

  const again = await open(asking, 'asking', origin)
  const { interrupts: listed } = await untilStore(again.root, ({ interrupts }) => interrupts.length === 2)
  expect(listed.map(({ id }) => id)).toEqual(waiting.interrupts.map(({ id }) => id))
  await again.controller.respond('Ada', { interruptId: listed[0]!.id! })
  const half = await untilStore(again.root, ({ interrupts }) => interrupts.length === 1)
  expect(half.interrupts.map(({ id }) => id)).toEqual([listed[1]!.id])
  await again.controller.respond(true, { interruptId: listed[1]!.id! })
  // The page learns of messages and of the end of a run over two connections.
  await untilStore(again.root, ({ messages }) => messages.at(-1)?.text === 'Ada, true.')
  await eventually(async () => (await again.client.threads.get('asking')).status === 'idle')
  const done = await untilStore(
    again.root,
    (snapshot) => !snapshot.isLoading && snapshot.interrupts.length === 0,
  )
  expect(spoken(done.messages)).toEqual(['human: go', 'ai: Before.', 'ai: ', 'tool: true', 'ai: Ada, true.'])
})

test('a failure reaches the client with its message, and earlier messages stay', async () => {
  const agent = defineAgent({
    async run({ message }) {
      await message('Before.')
      throw new Error('kaput')
    },
  })
  const { controller, root } = await open(agent, 'failing')
  await controller.submit(ask('one'))
  const failed = await untilStore(
    root,
    ({ isLoading, error, messages }) => !isLoading && !!error && messages.length === 2,
  )
  expect(failed.error).toMatchObject({ message: 'kaput' })
  expect(spoken(failed.messages)).toEqual(['human: one', 'ai: Before.'])
})

test('stop ends the run, and the next run can begin', async () => {
  const agent = defineAgent({
    async run({ messages, message }) {
      const m = message()
      await m.text('endless')
      if (messages.length === 1) await new Promise(() => {})
    },
  })
  const { controller, root } = await open(agent, 'stopping')
  void controller.submit(ask('one'))
  await untilStore(root, ({ messages }) => messages.some(({ text }) => text === 'endless'))
  await controller.stop()
  expect(root.getSnapshot().isLoading).toBe(false)
  await controller.submit(ask('two'))
  const done = await untilStore(root, ({ isLoading, messages }) => !isLoading && messages.length === 4)
  expect(spoken(done.messages).toSorted()).toEqual(['ai: endless', 'ai: endless', 'human: one', 'human: two'])
})
