import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { approval, chat, threeSteps } from '../../fixtures/graphs.ts'
import type { Json } from '../../kit/events.ts'
import { hasPostgres } from '../../kit/postgres-server.ts'
import { all, twoInstances } from './instances.ts'

const agents = {
  chat: langgraph(chat()),
  approval: langgraph(approval()),
  slow: langgraph(
    threeSteps((name, { signal }) => (name === 'two' ? sleep(60_000, undefined, { signal }) : undefined)),
  ),
}

const say = (content: string) => ({ messages: [{ type: 'human', content, id: content }] })

test.runIf(hasPostgres())(
  'a stranger uses every method of the client, and each request meets another instance',
  async () => {
    const { either: client } = await twoInstances(agents)
    const { assistants, threads, runs, store, crons } = client

    // Assistants: one of the server, and one with versions.
    const [system] = await assistants.search({ graphId: 'chat', metadata: { created_by: 'system' } })
    expect(await assistants.get(system!.assistant_id)).toMatchObject({ name: 'chat', version: 1 })
    const mine = await assistants.create({ graphId: 'chat', name: 'mine', metadata: { by: 'me' } })
    const config = { configurable: { tone: 'kind' } }
    expect(await assistants.update(mine.assistant_id, { config })).toMatchObject({ version: 2, config })
    expect(await assistants.getVersions(mine.assistant_id)).toMatchObject([{ version: 2 }, { version: 1 }])
    expect(await assistants.setLatest(mine.assistant_id, 1)).toMatchObject({ version: 1, config: {} })
    expect(await assistants.count({ metadata: { by: 'me' } })).toBe(1)
    expect((await assistants.getGraph('chat')).nodes.map(({ id }) => id)).toContain('model')
    expect(await assistants.getSchemas('chat')).toMatchObject({ graph_id: 'chat' })
    expect(await assistants.getSubgraphs('chat')).toEqual({})
    expect(await runs.wait(null, mine.assistant_id, { input: say('by it') })).toMatchObject({
      messages: { length: 2 },
    })
    await assistants.delete(mine.assistant_id)
    await expect(assistants.get(mine.assistant_id)).rejects.toThrow(/HTTP 404: .*Assistant not found/)

    // A thread, and what is said about it.
    const thread = await threads.create({ metadata: { topic: 'greeting' }, graphId: 'chat', ttl: 60 })
    const id = thread.thread_id
    expect(await threads.create({ threadId: id, ifExists: 'do_nothing' })).toMatchObject({ thread_id: id })
    await expect(threads.create({ threadId: id })).rejects.toThrow('HTTP 409')
    await threads.update(id, { metadata: { seen: true } })
    expect(await threads.get(id)).toMatchObject({
      metadata: { topic: 'greeting', seen: true },
      status: 'idle',
    })

    // Runs: waited for, streamed, in the background, joined in both ways, listed.
    expect(await runs.wait(id, 'chat', { input: say('one') })).toMatchObject({
      messages: [{}, { type: 'ai' }],
    })
    const frames = await all(
      runs.stream(id, 'chat', { input: say('two'), streamMode: ['updates', 'messages-tuple'] }),
    )
    expect(frames[0]).toMatchObject({ event: 'metadata', data: { attempt: 1 } })
    expect(new Set(frames.map(({ event }) => event))).toEqual(new Set(['metadata', 'updates', 'messages']))
    const created = await runs.create(id, 'chat', { input: say('three'), metadata: { by: 'me' } })
    expect(await runs.join(id, created.run_id)).toMatchObject({ messages: { length: 6 } })
    expect(await runs.get(id, created.run_id)).toMatchObject({ status: 'success', metadata: { by: 'me' } })
    const joined = await all(runs.joinStream(id, created.run_id, { lastEventId: '-1' }))
    expect(joined.at(-1)).toMatchObject({ event: 'values', data: { messages: { length: 6 } } })
    expect(await runs.list(id)).toHaveLength(3)
    expect(await runs.list(id, { status: 'success', limit: 2, select: ['run_id'] })).toEqual([
      { run_id: created.run_id },
      { run_id: frames[0].data.run_id },
    ])

    // State, its history, and a copy of both.
    const state = await threads.getState(id)
    expect(state).toMatchObject({ next: [], values: { messages: { length: 6 } } })
    await threads.updateState(id, { values: say('by hand'), asNode: 'model' })
    const history = await threads.getHistory(id, { limit: 100 })
    expect(history[0]?.values.messages).toHaveLength(7)
    expect(history[1]?.checkpoint).toEqual(state.checkpoint)
    expect((await threads.getState(id, state.checkpoint.checkpoint_id!)).values).toEqual(state.values)
    await threads.patchState(id, { reviewed: true })
    const copy = await threads.copy(id)
    expect((await threads.getState(copy.thread_id)).values).toEqual(history[0]?.values)
    expect((await threads.getHistory(copy.thread_id, { limit: 100 })).map(({ next }) => next)).toEqual(
      history.map(({ next }) => next),
    )

    // Lists.
    const search = { metadata: { topic: 'greeting' } }
    expect(await threads.count(search)).toBe(2)
    expect(
      await threads.search({ ...search, select: ['thread_id'], sortBy: 'created_at', sortOrder: 'asc' }),
    ).toEqual([{ thread_id: id }, { thread_id: copy.thread_id }])
    const [extracted] = await threads.search({ ids: [id], extract: { last: 'values.messages[-1].content' } })
    expect((extracted as Json).extracted).toEqual({ last: 'by hand' })

    // An interrupt, and a long run that is cancelled in each way.
    const asked = await threads.create()
    await runs.wait(asked.thread_id, 'approval', { input: { notes: [] } })
    expect(await threads.search({ status: 'interrupted' })).toMatchObject([{ thread_id: asked.thread_id }])
    const answered = await runs.wait(asked.thread_id, 'approval', { command: { resume: 'yes' } })
    expect(answered).toEqual({ notes: ['answer: yes', 'after'] })
    const long = await threads.create()
    const first = await runs.create(long.thread_id, 'slow', { input: { notes: [] } })
    await expect(
      runs.create(long.thread_id, 'slow', { input: { notes: [] }, multitaskStrategy: 'reject' }),
    ).rejects.toThrow(/HTTP 4(09|22)/)
    await runs.cancel(long.thread_id, first.run_id, true)
    expect((await runs.get(long.thread_id, first.run_id)).status).toBe('interrupted')
    const second = await runs.create(long.thread_id, 'slow', { input: { notes: [] }, afterSeconds: 60 })
    await runs.cancelMany({ threadId: long.thread_id, runIds: [second.run_id] })
    await runs.join(long.thread_id, second.run_id)
    await runs.delete(long.thread_id, second.run_id)
    await expect(runs.get(long.thread_id, second.run_id)).rejects.toThrow('HTTP 404')

    // Runs with threads of their own.
    expect(await runs.wait(null, 'chat', { input: say('alone') })).toMatchObject({ messages: { length: 2 } })
    expect(await all(runs.stream(null, 'chat', { input: say('alone') }))).toMatchObject({ length: 3 })
    const batch = await runs.createBatch([
      { assistantId: 'chat', input: say('a') },
      { assistantId: 'approval', input: { notes: [] } },
    ])
    for (const { status } of batch) expect(status).toMatch(/pending|running|success/)

    // The store.
    await store.putItem(['people', 'ann'], 'likes', { color: 'green' })
    expect(await store.getItem(['people', 'ann'], 'likes')).toMatchObject({ value: { color: 'green' } })
    expect((await store.searchItems(['people'], { filter: { color: 'green' } })).items).toHaveLength(1)
    expect((await store.listNamespaces({ prefix: ['people'] })).namespaces).toEqual([['people', 'ann']])
    await store.deleteItem(['people', 'ann'], 'likes')
    expect(await store.getItem(['people', 'ann'], 'likes')).toBeNull()

    // Crons.
    const daily = await crons.create('chat', {
      schedule: '0 8 * * *',
      timezone: 'Europe/Berlin',
      input: say('daily'),
    })
    const ofThread = await crons.createForThread(id, 'chat', { schedule: '0 0 1 * *', input: say('monthly') })
    expect(await crons.count()).toBe(2)
    expect(await crons.search({ threadId: id })).toMatchObject([{ cron_id: ofThread.cron_id }])
    expect(await crons.update(daily.cron_id, { enabled: false })).toMatchObject({ enabled: false })
    for (const { cron_id } of [daily, ofThread]) await crons.delete(cron_id)
    expect(await crons.search()).toEqual([])

    // The end.
    expect(await threads.prune([copy.thread_id])).toEqual({ pruned_count: 1 })
    await threads.delete(id)
    await expect(threads.get(id)).rejects.toThrow(`Thread with ID ${id} not found`)
  },
  120_000,
)
