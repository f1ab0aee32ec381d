import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { failing } from '../fixtures/failing.ts'
import { calculator, chat, nestedApproval, researchers, supervised, threeSteps } from '../fixtures/graphs.ts'
import type { Json } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { hesitant } from '../threads/sdk/graphs.ts'
import type { OpenTab, Tab, TabOptions } from './site.ts'

const WHOLE = { loading: false, messages: ['human: Hi', 'ai: one two three four'] }
const HALF = { loading: true, messages: ['human: Hi', 'ai: one two '] }

export function older(open: OpenTab): void {
  const serve = async (graph: Json, options: Json = {}) => {
    const host = await serveAgents({ agents: { agent: langgraph(graph) }, http: { cors: { origins: '*' } } })
    const openTab = (more: Partial<TabOptions> = {}) =>
      open({ hook: 'older', api: host.origin, options, ...more })
    const runs = async (tab: Tab): Promise<Json[]> => {
      const id = await tab.threadId()
      return (await host.thread(id).get('/runs')).body
    }
    return { host, openTab, runs, tab: await openTab() }
  }

  test('makes a thread, streams tokens with the node that wrote them, and reads the history', async () => {
    const { graph, reached, release } = hesitant()
    const { tab } = await serve(graph, { fetchStateHistory: true })
    await tab.say('Hi', { metadata: { title: 'first' } })
    await reached
    await tab.shows(HALF)
    release()
    await tab.shows({ ...WHOLE, error: null, nodes: [null, 'model'], states: 3 })
    const id = await tab.threadId()
    expect(await tab.told('onCreated')).toEqual([
      ['onCreated', { thread_id: id, run_id: expect.any(String) }],
    ])
    expect(await tab.told('onFinish')).toHaveLength(1)
    await tab.page.reload()
    await tab.shows({ ...WHOLE, states: 3 })
  })

  test('reconnectOnMount goes on with a run after a reload', async () => {
    const { graph, reached, release } = hesitant()
    const { tab, runs } = await serve(graph, { reconnectOnMount: true })
    await tab.say('Hi')
    await reached
    await tab.shows(HALF)
    await tab.page.reload()
    await tab.shows(HALF)
    release()
    await tab.shows(WHOLE)
    expect(await runs(tab)).toMatchObject([{ status: 'success' }])
    expect(await tab.page.evaluate(() => sessionStorage.length)).toBe(0)
  })

  test.each([false, true])('an interrupt is answered by command.resume, with history %s', async (history) => {
    const { tab } = await serve(supervised(), { fetchStateHistory: history })
    await tab.say('add')
    const asked = { loading: false, interrupts: [{ actionRequests: [{ name: 'add' }] }] }
    await tab.shows(asked)
    await tab.page.reload()
    await tab.shows(asked)
    await tab.call('submit', null, { command: { resume: { decisions: [{ type: 'approve' }] } } })
    await tab.shows({ loading: false, interrupts: [], messages: ['human: add', {}, 'tool: 5', 'ai: Done.'] })
  })

  test.each([false, true])(
    'a breakpoint is shown, and the run goes on from it, with history %s',
    async (history) => {
      const { tab } = await serve(threeSteps(), { fetchStateHistory: history })
      await tab.call('submit', { notes: [] }, { interruptBefore: ['two'] })
      await tab.shows({ loading: false, interrupts: ['breakpoint'], values: { notes: ['one'] } })
      await tab.call('submit', null, { command: { resume: 'go on' }, interruptBefore: ['three'] })
      await tab.shows({ loading: false, interrupts: ['breakpoint'], values: { notes: ['one', 'two'] } })
      await tab.call('submit', null)
      await tab.shows({ loading: false, interrupts: [], values: { notes: ['one', 'two', 'three'] } })
    },
  )

  test('a message is edited and an answer is made again, in branches that can be looked through', async () => {
    // Of the ten states that it reads by default, those of the first branch would be missing in the end.
    const { tab } = await serve(chat(), { fetchStateHistory: { limit: 100 } })
    await tab.say('Hi')
    await tab.shows({
      loading: false,
      messages: ['human: Hi', 'ai: Hello to you.'],
      branches: ['0/0', '0/0'],
    })
    await again(tab, 1, undefined)
    await tab.shows({
      loading: false,
      messages: ['human: Hi', 'ai: Hello to you.'],
      branches: ['0/0', '2/2'],
    })
    await again(tab, 0, 'Changed')
    const changed = ['human: Changed', 'ai: Hello to you.']
    await tab.shows({ loading: false, messages: changed, branches: ['2/2', '0/0'] })
    await turnTo(tab, 0, 0)
    await tab.shows({ messages: ['human: Hi', 'ai: Hello to you.'], branches: ['1/2', '2/2'] })
    await turnTo(tab, 1, 0)
    await tab.shows({ messages: ['human: Hi', 'ai: Hello to you.'], branches: ['1/2', '1/2'] })
    await tab.say('More')
    // The hook turns to the last edit by itself.
    await tab.shows({ loading: false, messages: changed })
    await turnTo(tab, 0, 0)
    await turnTo(tab, 1, 0)
    await tab.shows({ messages: ['human: Hi', 'ai: Hello to you.', 'human: More', 'ai: Hello to you.'] })
  })

  test('another page joins the run by its id and sees the whole of it', async () => {
    const { graph, reached, release } = hesitant()
    const { tab, openTab, runs } = await serve(graph)
    await tab.say('Hi', { onDisconnect: 'continue' })
    await reached
    await tab.shows(HALF)
    const [{ run_id }] = await runs(tab)
    const second = await openTab({ thread: await tab.threadId() })
    await second.shows({ hydrating: false })
    await second.call('joinStream', run_id)
    await second.shows(HALF)
    release()
    await tab.shows(WHOLE)
    await second.shows(WHOLE)
  })

  test.each([
    ['cancel', 'interrupted'],
    ['continue', 'success'],
  ])('with onDisconnect %s a run whose page was closed ends as %s', async (onDisconnect, status) => {
    const { graph, reached, release } = hesitant()
    const { host, tab } = await serve(graph)
    await tab.say('Hi', { onDisconnect })
    await reached
    const id = await tab.threadId()
    await tab.page.close()
    const runs = async () => (await host.thread(id).get('/runs')).body
    if (onDisconnect === 'continue') release()
    await expect.poll(runs).toMatchObject([{ status }])
  })

  test.each([false, true])('stop cancels the run, with reconnectOnMount %s', async (reconnectOnMount) => {
    const { graph, reached } = hesitant()
    const { tab, runs } = await serve(graph, { reconnectOnMount })
    await tab.say('Hi')
    await reached
    await tab.shows(HALF)
    await tab.call('stop')
    await tab.shows({ loading: false, error: null })
    await expect.poll(() => runs(tab)).toMatchObject([{ status: 'interrupted' }])
  })

  test('streamSubgraphs tells what happens within a subgraph, with its namespace', async () => {
    const callbacks = ['onUpdateEvent', 'onCustomEvent', 'onCheckpointEvent', 'onTaskEvent']
    const inner = new StateGraph(MessagesAnnotation)
      .addNode('speak', (_, { writer }) => {
        writer?.('speaking')
        return { messages: [{ type: 'ai', content: 'Hey' }] }
      })
      .addEdge(START, 'speak')
      .compile()
    const graph = new StateGraph(MessagesAnnotation).addNode('child', inner).addEdge(START, 'child').compile()
    const { tab } = await serve(graph, { callbacks })
    await tab.say('Hi', { streamSubgraphs: true })
    await tab.shows({ loading: false, messages: ['human: Hi', 'ai: Hey'] })
    const within = { namespace: [expect.stringMatching(/^child:/)] }
    const ofRoot = expect.not.objectContaining({ namespace: expect.anything() })
    expect(await tab.told('onUpdateEvent')).toMatchObject([
      ['onUpdateEvent', { speak: {} }, within],
      ['onUpdateEvent', { child: {} }, ofRoot],
    ])
    expect(await tab.told('onCustomEvent')).toMatchObject([['onCustomEvent', 'speaking', within]])
    expect(await tab.told('onTaskEvent')).toMatchObject([
      ['onTaskEvent', { name: 'child', input: {} }, ofRoot],
      ['onTaskEvent', { name: 'speak', input: {} }, within],
      ['onTaskEvent', { name: 'speak', result: {} }, within],
      ['onTaskEvent', { name: 'child', result: {} }, ofRoot],
    ])
    const steps = (await tab.told('onCheckpointEvent')).map(([, { metadata }, { namespace }]) => [
      metadata.source,
      metadata.step,
      namespace?.length ?? 0,
    ])
    expect(steps).toEqual([
      ['input', -1, 0],
      ['loop', 0, 0],
      ['input', -1, 1],
      ['loop', 0, 1],
      ['loop', 1, 1],
      ['loop', 1, 0],
    ])
  })

  test('a subgraph asks, and its answer reaches it', async () => {
    const { tab } = await serve(nestedApproval(), { fetchStateHistory: true })
    await tab.call('submit', { notes: [] }, { streamSubgraphs: true })
    await tab.shows({ loading: false, interrupts: ['inner?'] })
    await tab.call('submit', null, { command: { resume: 'yes' } })
    await tab.shows({ loading: false, interrupts: [], values: { notes: ['inner', 'answer: yes', 'after'] } })
  })

  test('tools and subagents are followed', async () => {
    const tools = await serve(calculator(), { callbacks: ['onToolEvent'] })
    await tools.tab.say('2 and 3')
    await tools.tab.shows({ loading: false, calls: ['add completed'] })
    expect((await tools.tab.told('onToolEvent')).map(([, { event }]) => event)).toEqual([
      'on_tool_start',
      'on_tool_end',
    ])
    const { tab } = await serve(researchers(), { filterSubagentMessages: true })
    await tab.say('Find x', { streamSubgraphs: true })
    await tab.shows({
      loading: false,
      subagents: ['researcher complete'],
      messages: ['human: Find x', {}, 'tool: x is 5', 'ai: The answer is 5.'],
    })
  })

  test('a second message interrupts the run or waits for it, as multitaskStrategy says', async () => {
    for (const [multitaskStrategy, statuses] of [
      ['interrupt', ['interrupted', 'success']],
      ['enqueue', ['success', 'success']],
    ] as const) {
      const { graph, reached, release } = hesitant()
      const { tab, runs } = await serve(graph)
      await tab.say('Hi', { onDisconnect: 'continue' })
      await reached
      await tab.shows(HALF)
      const next = tab.say('Ho', { multitaskStrategy, onDisconnect: 'continue' })
      if (multitaskStrategy === 'interrupt') await expect.poll(async () => (await runs(tab)).length).toBe(2)
      release()
      await next
      await tab.shows({ loading: false, messages: expect.arrayContaining(['human: Ho']) })
      expect((await runs(tab)).map(({ status }) => status).reverse()).toEqual(statuses)
    }
  })

  test('a failed run shows its error, also after a reload', async () => {
    const { openTab } = await serve(failing(), { fetchStateHistory: true })
    const tab = await openTab({ problems: /secret of the tool/ })
    await tab.say('Hi')
    await tab.shows({ loading: false, error: 'secret of the tool' })
    await tab.page.reload()
    await tab.shows({ loading: false, error: expect.stringContaining('secret of the tool') })
  })

  test('switchThread leaves what the thread said', async () => {
    const { tab } = await serve(chat())
    await tab.say('Hi')
    await tab.shows({ loading: false, messages: ['human: Hi', 'ai: Hello to you.'] })
    await tab.call('switchThread', null)
    await tab.shows({ messages: [], threadId: null })
    await tab.say('Ho')
    await tab.shows({ loading: false, messages: ['human: Ho', 'ai: Hello to you.'] })
  })
}

/** Runs again from before a message, with another one in its place or with none. */
const again = (tab: Tab, at: number, text: string | undefined) =>
  tab.page.evaluate(
    ([index, content]) => {
      const { stream } = window
      const checkpoint = stream.getMessagesMetadata(stream.messages[index!], index).firstSeenState
        .parent_checkpoint
      const input = content === undefined ? undefined : { messages: [{ type: 'human', content }] }
      void stream.submit(input, { checkpoint })
    },
    [at, text] as const,
  )

const turnTo = (tab: Tab, at: number, branch: number) =>
  tab.page.evaluate(
    ([index, wanted]) => {
      const { stream } = window
      stream.setBranch(stream.getMessagesMetadata(stream.messages[index!], index).branchOptions[wanted!])
    },
    [at, branch] as const,
  )
