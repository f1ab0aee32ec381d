import { HttpAgentServerAdapter } from '@langchain/langgraph-sdk/client'
import { messagesProjection } from '@langchain/langgraph-sdk/stream'
import { expect } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { memoryCheckpointer, memoryStore } from '../../../src/index.ts'
import { approval, chat, nestedApproval, researchers, twoApprovals } from '../../fixtures/graphs.ts'
import type { Json } from '../../kit/events.ts'
import { untilStore } from '../../kit/stream-store.ts'
import { hesitant, slowTool } from './graphs.ts'
import type { Scenario } from './scenarios.ts'
import { afterReconnect, asked, brief, briefly, human, reconnecting, setStage, shows } from './stage.ts'

/** Pages that open existing threads, lose their connection, or live through a restart of the server. */
export const reloads: Readonly<Record<string, Scenario>> = {
  async 'a page opened in the middle of a message shows the whole message once, and loads until its end'(
    target,
    sdk,
  ) {
    const { graph, reached, release } = hesitant()
    const stage = await setStage(target, { chat: langgraph(graph) }, { sdk })
    const page = stage.page('chat')
    const submitted = page.submit(human('Count'))
    await reached
    const { threadId } = await untilStore(page.rootStore, () => briefly(page).at(-1) === 'ai: one two ')
    const reloaded = stage.page('chat', { threadId })
    await untilStore(
      reloaded.rootStore,
      ({ isLoading }) => isLoading && briefly(reloaded).at(-1) === 'ai: one two ',
    )
    expect(briefly(reloaded)).toEqual(['human: Count', 'ai: one two '])
    release()
    await submitted
    for (const controller of [page, reloaded])
      await shows(controller, ['human: Count', 'ai: one two three four'])
  },

  async 'a page opened in the middle of a tool shows earlier turns and the tool'(target, sdk) {
    const { graph, reached, release } = slowTool()
    const stage = await setStage(target, { a: langgraph(graph) }, { sdk })
    const page = stage.page('a')
    const submitted = page.submit(human('Wait'))
    await reached
    const { threadId } = page.rootStore.getSnapshot()
    const reloaded = stage.page('a', { threadId })
    await untilStore(
      reloaded.rootStore,
      (now) => now.isLoading && now.toolCalls.length === 1 && now.messages.length === 2,
    )
    expect(briefly(reloaded)).toEqual(['human: Wait', 'ai -> wait'])
    expect(reloaded.rootStore.getSnapshot().toolCalls).toMatchObject([{ name: 'wait', status: 'running' }])
    release()
    await submitted
    const first = ['human: Wait', 'ai -> wait', 'tool: waited', 'ai: Done waiting.']
    for (const controller of [page, reloaded]) await shows(controller, first)
    await reloaded.submit(human('Again'))
    await shows(reloaded, [...first, 'human: Again', 'ai -> wait', 'tool: waited', 'ai: Done waiting.'])
  },

  async 'a page opened on a finished thread takes a new turn, and loads until this turn ends'(target, sdk) {
    const store = memoryStore()
    const checkpointer = memoryCheckpointer()
    const stage = await setStage(target, { chat: langgraph(chat()) }, { sdk, store, checkpointer })
    const page = stage.page('chat')
    await page.submit(human('one'))
    await page.submit(human('two'))
    const said = ['human: one', 'ai: Hello to you.', 'human: two', 'ai: Hello to you.']
    await shows(page, said)
    const { threadId } = page.rootStore.getSnapshot()

    const { graph, reached, release } = hesitant()
    await stage.restart({ agents: { chat: langgraph(graph) } })
    const reloaded = stage.page('chat', { threadId })
    await shows(reloaded, said)
    let ended = false
    const submitted = reloaded.submit(human('three')).then(() => {
      ended = true
    })
    await reached
    await untilStore(reloaded.rootStore, () => briefly(reloaded).at(-1) === 'ai: one two ')
    expect(ended).toBe(false)
    expect(reloaded.rootStore.getSnapshot().isLoading).toBe(true)
    release()
    await submitted
    await shows(reloaded, [...said, 'human: three', 'ai: one two three four'])
  },

  async 'a page opened after a fork does not show the old branch'(target, sdk) {
    const stage = await setStage(target, { chat: langgraph(chat()) }, { sdk })
    const page = stage.page('chat')
    const said: string[] = []
    for (const content of ['one', 'two', 'three', 'four']) {
      await page.submit(human(content))
      said.push(`human: ${content}`, 'ai: Hello to you.')
      await shows(page, said)
    }
    const { threadId } = page.rootStore.getSnapshot()
    const history = await stage.client.threads.getHistory<Json>(threadId!, { limit: 50 })
    const first = history.find(({ values, next }) => values.messages?.length === 2 && next.length === 0)!
    await page.submit(human('edited'), { forkFrom: first.checkpoint.checkpoint_id! })
    const branch = ['human: one', 'ai: Hello to you.', 'human: edited', 'ai: Hello to you.']
    const reloaded = stage.page('chat', { threadId })
    await shows(reloaded, branch)
    await reloaded.submit(human('five'))
    await shows(reloaded, [...branch, 'human: five', 'ai: Hello to you.'])
  },

  async 'a page opened after a stop shows the answer as far as it came, and the next one below'(target, sdk) {
    const { graph, reached } = hesitant()
    const store = memoryStore()
    const checkpointer = memoryCheckpointer()
    const stage = await setStage(target, { chat: langgraph(graph) }, { sdk, store, checkpointer })
    const page = stage.page('chat')
    const submitted = page.submit(human('Count'))
    await reached
    const { threadId } = await untilStore(page.rootStore, () => briefly(page).at(-1) === 'ai: one two ')
    await page.stop()
    await submitted
    await stage.idle(threadId!)
    await stage.restart({ agents: { chat: langgraph(chat()) } })
    const reloaded = stage.page('chat', { threadId })
    await shows(reloaded, ['human: Count', 'ai: one two '])
    await reloaded.submit(human('Hi'))
    await untilStore(reloaded.rootStore, ({ isLoading }) => !isLoading && briefly(reloaded).length === 4)
    expect(briefly(reloaded)).toEqual(['human: Count', 'ai: one two ', 'human: Hi', 'ai: Hello to you.'])
  },

  async 'a page opened at an interrupt shows it and can answer it, and the next page no longer shows it'(
    target,
    sdk,
  ) {
    const agents = {
      ask: langgraph(approval()),
      nested: langgraph(nestedApproval()),
      two: langgraph(twoApprovals()),
    }
    const stage = await setStage(target, agents, { sdk })
    for (const [assistantId, count] of [
      ['ask', 1],
      ['nested', 1],
      ['two', 2],
    ] as const) {
      const page = stage.page(assistantId)
      await page.submit({})
      const { threadId } = await untilStore(page.rootStore, ({ interrupts }) => interrupts.length === count)
      const reloaded = stage.page(assistantId, { threadId })
      await reloaded.hydrationPromise
      const { interrupts } = reloaded.rootStore.getSnapshot()
      expect(interrupts).toHaveLength(count)
      await reloaded.respondAll(Object.fromEntries(interrupts.map(({ id }) => [id, 'yes'])))
      await untilStore(reloaded.rootStore, (now) => !now.isLoading && now.values.notes?.includes('after'))
      expect(reloaded.rootStore.getSnapshot().interrupts).toEqual([])
      const third = stage.page(assistantId, { threadId })
      await third.hydrationPromise
      expect(third.rootStore.getSnapshot()).toMatchObject({ interrupts: [], isLoading: false })
      await third.submit({ notes: ['more'] })
      expect((await untilStore(third.rootStore, (now) => now.interrupts.length === count)).isLoading).toBe(
        false,
      )
    }
  },

  async 'a page opened on a thread with finished subagents takes cards and their messages from the history'(
    target,
    sdk,
  ) {
    const stage = await setStage(target, { deep: langgraph(researchers()) }, { sdk })
    const page = stage.page('deep')
    await page.submit(human('Find x'))
    const { threadId } = page.rootStore.getSnapshot()
    const [live] = [
      ...(
        await untilStore(page.subagentStore, (cards) => [...cards.values()][0]?.status === 'complete')
      ).values(),
    ]
    const reloaded = stage.page('deep', { threadId })
    await reloaded.hydrationPromise
    await shows(reloaded, ['human: Find x', 'ai -> task', 'tool: x is 5', 'ai: The answer is 5.'])
    const cards = await untilStore(
      reloaded.subagentStore,
      (now) => now.get('call_task')?.namespace[0] === live!.namespace[0],
    )
    expect(cards.get('call_task')).toMatchObject({
      name: 'researcher',
      status: 'complete',
      taskInput: 'Find x',
    })
    const messages = reloaded.registry.acquire(messagesProjection(live!.namespace))
    const whole = await untilStore(messages.store, (list) => list.length === 4)
    expect(whole.map(brief)).toEqual(['human: Find x', 'ai -> add', 'tool: 5', 'ai: x is 5'])
    messages.release()
  },

  async 'a page with a transport of its own opens a thread that exists and one that does not'(target, sdk) {
    const stage = await setStage(target, { chat: langgraph(chat()) }, { sdk })
    const said: string[] = []
    for (const paths of [undefined, { stream: (id: string) => `/threads/${id}/stream` }]) {
      const transport = new HttpAgentServerAdapter({
        apiUrl: stage.apiUrl,
        threadId: 'mine',
        paths: paths as never,
      })
      const page = stage.page('chat', { transport, threadId: 'mine' })
      await page.hydrationPromise
      await shows(page, said)
      await page.submit(human('Hi'))
      said.push('human: Hi', 'ai: Hello to you.')
      await shows(page, said)
    }
  },

  async 'a page with a transport of its own that names no assistant talks to the agent of its thread'(
    target,
    sdk,
  ) {
    const agents = { other: langgraph(approval()), chat: langgraph(chat()) }
    const stage = await setStage(target, agents, { sdk, defaultAgent: 'chat' })
    const transport = (threadId: string) => new HttpAgentServerAdapter({ apiUrl: stage.apiUrl, threadId })
    // What `useStream` makes of a transport without an `assistantId`.
    const page = stage.page('_', { transport: transport('new'), threadId: 'new' })
    await page.hydrationPromise
    await page.submit(human('Hi'))
    await shows(page, ['human: Hi', 'ai: Hello to you.'])
    expect((await stage.client.threads.get('new')).metadata).toMatchObject({ assistant_id: 'chat' })
    const named = stage.page('other', { threadId: 'bound' })
    await named.submit({})
    const unnamed = stage.page('_', { transport: transport('bound'), threadId: 'bound' })
    await unnamed.hydrationPromise
    await asked(unnamed)
    // An input answers the interrupt.
    await unnamed.submit('yes' as never)
    await untilStore(unnamed.rootStore, ({ values }) => values.notes?.includes('after'))
    expect((await stage.client.threads.get('bound')).metadata).toMatchObject({ assistant_id: 'other' })
  },

  async 'a page whose connection is lost in the middle of a message shows the whole message once'(
    target,
    sdk,
  ) {
    const { graph, reached, release } = hesitant()
    const stage = await setStage(target, { chat: langgraph(graph) }, { sdk })
    let reconnects = 0
    const page = stage.page('chat', { onReconnect: () => reconnects++ })
    const submitted = page.submit(human('Count'))
    await reached
    await untilStore(page.rootStore, () => briefly(page).at(-1) === 'ai: one two ')
    stage.cut()
    release()
    await submitted
    await shows(page, ['human: Count', 'ai: one two three four'])
    expect(reconnects).toBeGreaterThan(0)
    expect(page.rootStore.getSnapshot().error).toBeUndefined()
  },

  async 'a page survives connections that are lost again and again, between turns as well'(target, sdk) {
    const stage = await setStage(target, { chat: langgraph(chat()) }, { sdk })
    const streams = reconnecting()
    const page = stage.page('chat', streams)
    const said: string[] = []
    for (const content of ['one', 'two', 'three', 'four']) {
      await page.submit(human(content))
      said.push(`human: ${content}`, 'ai: Hello to you.')
      await shows(page, said)
      await afterReconnect(streams, stage.cut)
    }
  },

  async 'open pages continue when the server restarts over the same storage'(target, sdk) {
    const store = memoryStore()
    const checkpointer = memoryCheckpointer()
    const stage = await setStage(target, { chat: langgraph(chat()) }, { sdk, store, checkpointer })
    const streams = reconnecting()
    const page = stage.page('chat', streams)
    await page.submit(human('one'))
    await shows(page, ['human: one', 'ai: Hello to you.'])
    await afterReconnect(streams, stage.restart)
    await page.submit(human('two'))
    await shows(page, ['human: one', 'ai: Hello to you.', 'human: two', 'ai: Hello to you.'])
  },

  async 'a page that submits continues when the server has lost its events but not its state'(target, sdk) {
    const checkpointer = memoryCheckpointer()
    const stage = await setStage(target, { chat: langgraph(chat()) }, { sdk, checkpointer })
    const streams = reconnecting()
    const page = stage.page('chat', streams)
    const said: string[] = []
    for (const content of ['one', 'two']) {
      await page.submit(human(content))
      said.push(`human: ${content}`, 'ai: Hello to you.')
      await shows(page, said)
    }
    await afterReconnect(streams, stage.restart)
    await page.submit(human('three'))
    await shows(page, [...said, 'human: three', 'ai: Hello to you.'])
    const { threadId } = page.rootStore.getSnapshot()
    await shows(stage.page('chat', { threadId }), [...said, 'human: three', 'ai: Hello to you.'])
  },
}
