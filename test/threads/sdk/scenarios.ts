import { messagesProjection, toolCallsProjection } from '@langchain/langgraph-sdk/stream'
import { expect } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import type { AdapterTarget } from '../../../src/audit/index.ts'
import {
  approval,
  calculator,
  chat,
  inOrder,
  nestedApproval,
  researchers,
  supervised,
  threeSteps,
  toolAgent,
  twoApprovals,
} from '../../fixtures/graphs.ts'
import type { Json } from '../../kit/events.ts'
import { untilStore } from '../../kit/stream-store.ts'
import { hesitant, slowSteps } from './graphs.ts'
import { asked, brief, briefly, human, type Sdk, setStage, shows } from './stage.ts'

export type Scenario = (target: AdapterTarget, sdk?: Sdk) => Promise<void>

/** What a page does without a reload. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  async 'text arrives word by word, and stays'(target, sdk) {
    const { graph, reached, release } = hesitant()
    const stage = await setStage(target, { chat: langgraph(graph) }, { sdk })
    const page = stage.page('chat')
    const submitted = page.submit(human('Count'))
    expect(page.rootStore.getSnapshot().isLoading).toBe(true)
    await reached
    await untilStore(page.rootStore, () => briefly(page).at(-1) === 'ai: one two ')
    expect(page.rootStore.getSnapshot().isLoading).toBe(true)
    release()
    await submitted
    await shows(page, ['human: Count', 'ai: one two three four'])
    const { error, threadId, values } = page.rootStore.getSnapshot()
    expect(error).toBeUndefined()
    expect(values.messages).toHaveLength(2)
    expect((await stage.client.threads.getState<Json>(threadId!)).values.messages).toHaveLength(2)
  },

  async 'one thread takes several turns'(target, sdk) {
    const stage = await setStage(target, { chat: langgraph(chat()) }, { sdk })
    const page = stage.page('chat')
    const said: string[] = []
    for (const content of ['one', 'two', 'three']) {
      await page.submit(human(content))
      said.push(`human: ${content}`, 'ai: Hello to you.')
      await shows(page, said)
    }
  },

  async 'tool calls show their inputs and outputs'(target, sdk) {
    const stage = await setStage(target, { a: langgraph(calculator()) }, { sdk })
    const page = stage.page('a')
    await page.submit(human('2 + 3?'))
    await shows(page, ['human: 2 + 3?', 'ai -> add', 'tool: 5', 'ai: It is five.'])
    const [call, ...others] = page.rootStore.getSnapshot().toolCalls as Json[]
    expect(others).toEqual([])
    expect(call).toMatchObject({ name: 'add', id: 'call_add', status: 'finished', input: { a: 2, b: 3 } })
    expect(JSON.stringify(call.output)).toContain('5')
  },

  async 'a tool that fails shows its error'(target, sdk) {
    const script = inOrder(
      { toolCalls: [{ id: 'call_broken', name: 'broken', args: {} }] },
      { text: 'Sorry.' },
    )
    const stage = await setStage(target, { a: langgraph(toolAgent(script)) }, { sdk })
    const page = stage.page('a')
    const seen = new Set<string>()
    page.rootStore.subscribe(() => {
      for (const { id, status } of page.rootStore.getSnapshot().toolCalls as Json[])
        seen.add(`${id} ${status}`)
    })
    await page.submit(human('go'))
    await untilStore(page.rootStore, () => briefly(page).at(-1) === 'ai: Sorry.')
    // The client sets `finished` itself when the message of the tool arrives.
    expect([...seen]).toEqual(['call_broken running', 'call_broken error', 'call_broken finished'])
  },

  async 'subagents show cards, messages and tool calls, live and when opened late'(target, sdk) {
    const stage = await setStage(target, { deep: langgraph(researchers()) }, { sdk })
    const page = stage.page('deep')
    const submitted = page.submit(human('Find x'))
    await untilStore(page.subagentStore, (subagents) => subagents.size > 0)
    await submitted
    await shows(page, ['human: Find x', 'ai -> task', 'tool: x is 5', 'ai: The answer is 5.'])
    const [card, ...others] = [...page.subagentStore.getSnapshot().values()]
    expect(others).toEqual([])
    expect(card).toMatchObject({
      id: 'call_task',
      name: 'researcher',
      status: 'complete',
      taskInput: 'Find x',
      parentId: null,
    })
    expect(card!.namespace).toEqual([expect.stringMatching(/^tools:[0-9a-f-]{36}$/)])
    const messages = page.registry.acquire(messagesProjection(card!.namespace))
    const whole = await untilStore(messages.store, (list) => list.length >= 4)
    expect(whole.map(brief)).toEqual(['human: Find x', 'ai -> add', 'tool: 5', 'ai: x is 5'])
    const calls = page.registry.acquire(toolCallsProjection(card!.namespace))
    const [look] = await untilStore(calls.store, (list) => list.some(({ status }) => status === 'finished'))
    expect(look).toMatchObject({ name: 'add', id: 'call_look' })
    messages.release()
    calls.release()
  },

  async 'an interrupt is shown until it is answered'(target, sdk) {
    const stage = await setStage(target, { ask: langgraph(approval()) }, { sdk })
    const page = stage.page('ask')
    await page.submit({ notes: ['in'] })
    expect(page.rootStore.getSnapshot().isLoading).toBe(false)
    const { interrupts, interrupt } = await asked(page)
    expect(interrupts).toEqual([expect.objectContaining({ value: { question: 'go?' } })])
    await page.respond('yes', { interruptId: interrupt!.id! })
    const { values } = await untilStore(
      page.rootStore,
      (now) => now.values.notes?.length === 3 && !now.isLoading,
    )
    expect(values.notes).toEqual(['in', 'answer: yes', 'after'])
    expect(page.rootStore.getSnapshot().interrupts).toEqual([])
    await page.submit({ notes: ['again'] })
    await asked(page)
  },

  async 'a run without an input leaves an interrupt open'(target, sdk) {
    const stage = await setStage(target, { ask: langgraph(approval()) }, { sdk })
    const page = stage.page('ask')
    await page.submit({ notes: ['in'] })
    const { interrupt } = await asked(page)
    await page.submit(null)
    const again = await asked(page)
    expect(again.interrupt!.id).toBe(interrupt!.id)
    await page.respond('yes', { interruptId: interrupt!.id! })
    await untilStore(page.rootStore, (now) => !now.isLoading && now.values.notes?.includes('after'))
    expect(page.rootStore.getSnapshot().interrupts).toEqual([])
  },

  async 'an interrupt can be answered with an update'(target, sdk) {
    const stage = await setStage(target, { ask: langgraph(approval()) }, { sdk })
    const page = stage.page('ask')
    await page.submit({})
    await page.respond('yes', { update: { notes: ['card'] } })
    const { values } = await untilStore(
      page.rootStore,
      (now) => now.values.notes?.includes('after') && !now.isLoading,
    )
    expect(values.notes).toEqual(['card', 'answer: yes', 'after'])
  },

  async 'parallel interrupts can be answered together'(target, sdk) {
    const stage = await setStage(target, { two: langgraph(twoApprovals()) }, { sdk })
    const page = stage.page('two')
    await page.submit({})
    const { interrupts } = await asked(page, 2)
    expect(interrupts.map(({ value }) => value).sort()).toEqual(['left?', 'right?'])
    await page.respondAll(Object.fromEntries(interrupts.map(({ id, value }) => [id, `${value}!`])))
    const { values } = await untilStore(
      page.rootStore,
      (now) => now.values.notes?.length === 3 && !now.isLoading,
    )
    expect([...values.notes].sort()).toEqual(['after', 'left: left?!', 'right: right?!'])
    expect(page.rootStore.getSnapshot().interrupts).toEqual([])
  },

  async 'parallel interrupts can be answered one after the other'(target, sdk) {
    const stage = await setStage(target, { two: langgraph(twoApprovals()) }, { sdk })
    const page = stage.page('two')
    await page.submit({})
    const [first, second] = (await asked(page, 2)).interrupts
    await page.respond('A', { interruptId: first!.id! })
    const left = await untilStore(page.rootStore, (now) => !now.isLoading && now.interrupts.length === 1)
    expect(left.interrupts[0]!.id).toBe(second!.id)
    const threadId = left.threadId!
    await stage.idle(threadId)
    await page.respond('B', { interruptId: second!.id! })
    const { values } = await untilStore(
      page.rootStore,
      (now) => now.values.notes?.includes('after') && !now.isLoading,
    )
    expect(values.notes.filter((note: string) => /: [AB]$/.test(note))).toHaveLength(2)
    expect(page.rootStore.getSnapshot().interrupts).toEqual([])
  },

  async 'interrupts of a subgraph and of a subagent can be answered'(target, sdk) {
    const agents = { nested: langgraph(nestedApproval()), deep: langgraph(researchers({ asks: true })) }
    const stage = await setStage(target, agents, { sdk })
    for (const [assistantId, input] of [
      ['nested', {}],
      ['deep', human('Find x')],
    ] as const) {
      const page = stage.page(assistantId)
      await page.submit(input)
      const { interrupt } = await asked(page)
      expect(interrupt!.namespace?.length).toBeGreaterThan(0)
      await page.respond('please', { interruptId: interrupt!.id! })
      await untilStore(page.rootStore, (now) => {
        const last = now.values.notes?.at(-1) ?? (now.messages.at(-1) as Json)?.text
        return !now.isLoading && ['after', 'The answer is 5.'].includes(last)
      })
      expect(page.rootStore.getSnapshot().interrupts).toEqual([])
    }
  },

  async 'the human-in-the-loop middleware asks and takes the decision'(target, sdk) {
    const stage = await setStage(target, { hitl: langgraph(supervised()) }, { sdk })
    const page = stage.page('hitl')
    await page.submit(human('2 + 3?'))
    const { interrupt } = await asked(page)
    expect(interrupt!.value).toMatchObject({ actionRequests: [{ name: 'add', args: { a: 2, b: 3 } }] })
    await page.respond({ decisions: [{ type: 'approve' }] })
    await untilStore(
      page.rootStore,
      (now) => !now.isLoading && (now.messages.at(-1) as Json).text === 'Done.',
    )
    await shows(page, ['human: 2 + 3?', 'ai -> add', 'tool: 5', 'ai: Done.'])
  },

  async 'stop ends the run on the server, and the thread stays usable'(target, sdk) {
    const { graph, reached } = hesitant()
    const stage = await setStage(target, { chat: langgraph(graph), other: langgraph(chat()) }, { sdk })
    const page = stage.page('chat')
    const submitted = page.submit(human('Count'))
    await reached
    await untilStore(page.rootStore, () => briefly(page).at(-1) === 'ai: one two ')
    await page.stop()
    await submitted
    const { isLoading, error, threadId } = page.rootStore.getSnapshot()
    expect({ isLoading, error }).toEqual({ isLoading: false, error: undefined })
    await stage.idle(threadId!)
    expect((await stage.client.threads.getState<Json>(threadId!)).next).toEqual(['model'])
  },

  async 'the error of a failed run is shown, and the next run completes'(target, sdk) {
    let fails = true
    const graph = threeSteps((name) => {
      if (fails && name === 'two') throw new Error('kaput')
    })
    const stage = await setStage(target, { a: langgraph(graph) }, { sdk })
    const page = stage.page('a')
    const told: Json[] = []
    await page.submit({ notes: ['in'] }, { onError: (error) => told.push(error) })
    expect(told.map(({ message }) => message)).toEqual(['kaput'])
    const { threadId } = await untilStore(page.rootStore, (now) => now.values.notes?.length === 2)
    expect(page.rootStore.getSnapshot()).toMatchObject({ isLoading: false, error: { message: 'kaput' } })
    // A person takes longer than this. By now both streams of the page have carried the end.
    for (let at = 0; at < 3; at++) await stage.client.threads.getState(threadId!)
    fails = false
    await page.submit({ notes: ['again'] })
    const { error, values } = await untilStore(
      page.rootStore,
      (now) => !now.isLoading && now.values.notes?.length === 6,
    )
    expect(error).toBeUndefined()
    expect(values.notes).toEqual(['in', 'one', 'again', 'one', 'two', 'three'])
  },

  async 'a refusal of the server is an error of the page'(target, sdk) {
    const stage = await setStage(target, { chat: langgraph(chat()) }, { sdk })
    const page = stage.page('nobody')
    await page.submit(human('Hi'))
    const { error, isLoading } = page.rootStore.getSnapshot() as Json
    expect(error).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('nobody') })
    expect(isLoading).toBe(false)
  },

  async 'after a fork the answer to an edited question replaces what came after it'(target, sdk) {
    const stage = await setStage(target, { chat: langgraph(chat()) }, { sdk })
    const page = stage.page('chat')
    await page.submit(human('first'))
    await page.submit(human('second'))
    const { threadId } = page.rootStore.getSnapshot()
    const history = await stage.client.threads.getHistory<Json>(threadId!)
    const before = history.find(({ values, next }) => values.messages?.length === 2 && next.length === 0)!
    await page.submit(human('edited'), { forkFrom: before.checkpoint.checkpoint_id! })
    const { values } = await untilStore(
      page.rootStore,
      (now) => !now.isLoading && now.values.messages?.length === 4,
    )
    expect(values.messages.map(brief).filter((text: string) => text.startsWith('human'))).toEqual([
      'human: first',
      'human: edited',
    ])
    const { values: stored } = await stage.client.threads.getState<Json>(threadId!)
    expect(
      stored.messages.map(({ content }: Json) => content).filter((text: unknown) => text !== 'Hello to you.'),
    ).toContain('edited')
  },

  async 'each strategy applies to what is submitted during a run'(target, sdk) {
    const expected = {
      interrupt: ['first', 'one', 'second', 'one', 'two'],
      rollback: ['second', 'one', 'two'],
    }
    for (const [strategy, notes] of Object.entries(expected)) {
      const { graph, reached } = slowSteps()
      const stage = await setStage(target, { a: langgraph(graph) }, { sdk })
      const page = stage.page('a')
      const first = page.submit({ notes: ['first'] })
      await reached
      await page.submit({ notes: ['second'] }, { multitaskStrategy: strategy as 'interrupt' })
      await first
      const threadId = page.rootStore.getSnapshot().threadId!
      await stage.idle(threadId)
      expect((await stage.client.threads.getState<Json>(threadId)).values.notes).toEqual(notes)
      const { values } = await untilStore(
        page.rootStore,
        (now) => !now.isLoading && now.values.notes?.at(-1) === 'two',
      )
      expect(values.notes).toEqual(notes)
    }
  },

  async 'of two pages of one thread the second submits during the run of the first, and waits'(target, sdk) {
    const { graph, reached, release } = slowSteps()
    const stage = await setStage(target, { a: langgraph(graph) }, { sdk })
    const page = stage.page('a')
    const first = page.submit({ notes: ['first'] })
    await reached
    const { threadId } = page.rootStore.getSnapshot()
    const other = stage.page('a', { threadId })
    await other.hydrationPromise
    const second = other.submit({ notes: ['second'] })
    await untilStore(other.rootStore, (now) => now.isLoading)
    release()
    await Promise.all([first, second])
    for (const controller of [page, other]) {
      const { values } = await untilStore(
        controller.rootStore,
        (now) => !now.isLoading && now.values.notes?.length === 6,
      )
      expect(values.notes).toEqual(['first', 'one', 'two', 'second', 'one', 'two'])
    }
  },
}
