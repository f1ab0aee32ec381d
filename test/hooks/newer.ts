import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { failing } from '../fixtures/failing.ts'
import {
  calculator,
  chat,
  nestedApproval,
  researchers,
  supervised,
  twoApprovals,
} from '../fixtures/graphs.ts'
import type { Json } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { hesitant } from '../threads/sdk/graphs.ts'
import type { OpenTab, TabOptions } from './site.ts'

/** What is said while the socket is away. */
const LOST = /WebSocket connection to/

export function newer(open: OpenTab): void {
  const serve = async (graph: Json, more: Json = {}) => {
    const host = await serveAgents({
      agents: { agent: langgraph(graph) },
      http: { cors: { origins: '*' } },
      ...more,
    })
    const openTab = (options: Partial<TabOptions> = {}) =>
      open({ hook: 'newer', api: host.origin, ...options })
    return { host, openTab, tab: await openTab() }
  }

  test('tokens arrive while the run goes on, and events only through the socket', async () => {
    const { graph, reached, release } = hesitant()
    const { tab } = await serve(graph)
    await tab.say('Hi')
    await reached
    await tab.shows({ loading: true, messages: ['human: Hi', 'ai: one two '] })
    release()
    await tab.shows({ loading: false, messages: ['human: Hi', 'ai: one two three four'], error: null })
    const path = `/threads/${await tab.threadId()}/stream/events`
    expect(tab.requests.filter((request) => request.includes('/stream'))).toEqual([`socket ${path}`])
    expect(tab.requests.filter((request) => request.includes('/commands'))).toEqual([])
    expect(await tab.told('onCreated')).toHaveLength(1)
  })

  test('tools are called, and their results are shown', async () => {
    const { tab } = await serve(calculator())
    await tab.say('2 and 3')
    await tab.shows({
      loading: false,
      calls: ['add finished'],
      messages: ['human: 2 and 3', 'ai: Let me add.', 'tool: 5', 'ai: It is five.'],
    })
  })

  test('a question is asked, survives a reload, and is answered once', async () => {
    const { tab } = await serve(supervised())
    await tab.say('add')
    const asked = { loading: false, interrupts: [{ actionRequests: [{ name: 'add' }] }] }
    await tab.shows(asked)
    await tab.page.reload()
    await tab.shows({ ...asked, hydrating: false })
    // The state shows the question before the socket has told of it, and until then the client finds it by its id alone.
    await tab.page.evaluate(() => {
      const { respond, interrupts } = window.stream
      void respond({ decisions: [{ type: 'approve' }] }, { interruptId: interrupts[0].id })
    })
    await tab.shows({ loading: false, interrupts: [], messages: ['human: add', {}, 'tool: 5', 'ai: Done.'] })
    await tab.page.reload()
    await tab.say('again')
    await tab.shows({ loading: false, interrupts: [{ actionRequests: [{ name: 'add' }] }] })
  })

  test('two questions are answered at once, and one of a subgraph by its namespace', async () => {
    const { tab } = await serve(twoApprovals())
    await tab.call('submit', {})
    await tab.shows({ loading: false, interrupts: ['left?', 'right?'] })
    await tab.page.evaluate(
      () =>
        void window.stream.respondAll(
          Object.fromEntries(window.stream.interrupts.map(({ id, value }: Json) => [id, `to ${value}`])),
        ),
    )
    await tab.shows({ loading: false, interrupts: [] })
    expect((await tab.shown()).values.notes.toSorted()).toEqual([
      'after',
      'left: to left?',
      'right: to right?',
    ])
    const nested = await serve(nestedApproval())
    await nested.tab.call('submit', {})
    await nested.tab.shows({ loading: false, interrupts: ['inner?'], subgraphs: ['sub'] })
    await nested.tab.call('respond', 'yes')
    await nested.tab.shows({
      loading: false,
      interrupts: [],
      values: { notes: ['inner', 'answer: yes', 'after'] },
    })
  })

  test('a subagent is found with its messages, also after a reload', async () => {
    const { tab } = await serve(researchers())
    await tab.say('Find x')
    const found = async () => {
      await tab.shows({ loading: false, subagents: ['researcher complete'] })
      const part = tab.page.locator('p').first()
      await expect.poll(() => part.textContent()).toMatch(/tool: 5 \| ai: x is 5$/)
    }
    await found()
    await tab.page.reload()
    await found()
  })

  test('stop ends the run on the server', async () => {
    const { graph, reached } = hesitant()
    const { host, tab } = await serve(graph)
    await tab.say('Hi')
    await reached
    await tab.shows({ messages: ['human: Hi', 'ai: one two '] })
    await tab.call('stop')
    await tab.shows({ loading: false })
    const id = await tab.threadId()
    await expect.poll(async () => (await host.thread(id).get('/runs')).body[0].status).toBe('interrupted')
  })

  test('another thread is opened and left without what the first one said', async () => {
    const { openTab } = await serve(chat())
    const tab = await openTab({ problems: /status of 404/ })
    await tab.say('Hi')
    const first = { loading: false, messages: ['human: Hi', 'ai: Hello to you.'] }
    await tab.shows(first)
    const id = await tab.threadId()
    await tab.page.evaluate(() => window.openThread(crypto.randomUUID()))
    await tab.shows({ hydrating: false, messages: [] })
    await tab.say('Ho')
    await tab.shows({ loading: false, messages: ['human: Ho', 'ai: Hello to you.'] })
    await tab.page.evaluate((threadId) => window.openThread(threadId), id)
    await tab.shows(first)
    await tab.page.evaluate(() => window.openThread(null))
    await tab.shows({ messages: [], threadId: null })
  })

  test('a reload in the middle of a run goes on, and so does a second page', async () => {
    const { graph, reached, release } = hesitant()
    const { tab, openTab } = await serve(graph)
    await tab.say('Hi')
    await reached
    await tab.shows({ messages: ['human: Hi', 'ai: one two '] })
    await tab.page.reload()
    const second = await openTab({ thread: await tab.threadId() })
    const half = { loading: true, messages: ['human: Hi', 'ai: one two '] }
    await tab.shows(half)
    await second.shows(half)
    release()
    const whole = { loading: false, messages: ['human: Hi', 'ai: one two three four'] }
    await tab.shows(whole)
    await second.shows(whole)
  })

  test('a socket that is cut comes back, and nothing is lost or told twice', async () => {
    const { graph, reached, release } = hesitant()
    const { host, openTab } = await serve(graph)
    const tab = await openTab({ problems: LOST })
    await tab.say('Hi')
    await reached
    await tab.shows({ messages: ['human: Hi', 'ai: one two '] })
    host.cut()
    release()
    await tab.shows({ loading: false, messages: ['human: Hi', 'ai: one two three four'] })
    expect((await tab.told('onReconnect')).length).toBeGreaterThan(0)
    await tab.say('Ho')
    await tab.shows({ loading: false, messages: [{}, {}, 'human: Ho', 'ai: one two three four'] })
  })

  test('a failed run shows its error, and the page can go on', async () => {
    const { tab } = await serve(failing())
    await tab.say('Hi')
    await tab.shows({ loading: false, error: 'secret of the tool', messages: ['human: Hi'] })
  })

  test('messages that are sent meanwhile wait in the queue, and can leave it', async () => {
    const { graph, reached, release } = hesitant()
    const { tab } = await serve(graph)
    await tab.say('one')
    await reached
    for (const text of ['two', 'three', 'four']) await tab.say(text, { multitaskStrategy: 'enqueue' })
    await tab.shows({ queue: ['two', 'three', 'four'] })
    await tab.page.evaluate(() => window.stream.leave(window.stream.queued[1].id))
    await tab.shows({ queue: ['two', 'four'] })
    release()
    await tab.shows({ loading: false, queue: [], messages: { length: 6 } })
    expect((await tab.shown()).messages.filter((line: string) => line.startsWith('human'))).toEqual([
      'human: one',
      'human: two',
      'human: four',
    ])
  })

  test('a page whose origin is not named gets no socket', async () => {
    const cors = { origins: ['https://example.com'] }
    const { openTab } = await serve(chat(), { http: { cors } })
    const tab = await openTab({ problems: /./ })
    await tab.say('Hi')
    await tab.shows({ loading: false, error: expect.stringMatching(/Failed to open/) })
  })
}
