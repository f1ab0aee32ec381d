import { describe, expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgentServer, type ThreadResource } from '../../src/index.ts'
import { approval, chat } from '../fixtures/graphs.ts'
import { DATABASES } from '../kit/databases.ts'
import { rootStates } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { sharedMemory } from '../kit/shared.ts'

const asks = defineAgent({
  async run({ interrupt, message }) {
    await message(`You said ${await interrupt('sure?')}.`)
  },
})
const question = { messages: [{ type: 'human', content: 'Q', id: 'h1' }] }

const AGENTS: Readonly<Record<string, { readonly agent: () => Agent; readonly input: unknown }>> = {
  'a graph': { agent: () => langgraph(chat(() => ({ text: 'Hi there.' }))), input: question },
  'a graph that asked': { agent: () => langgraph(approval()), input: { notes: ['in'] } },
  'a function': {
    agent: () => defineAgent({ run: async ({ message }) => void (await message('Hi there.')) }),
    input: question,
  },
  'a function that asked': { agent: () => asks, input: question },
}

const OTHER = { other: puppet().agent, third: puppet().agent }

describe.each(Object.entries(DATABASES))('over %s', (_, open) => {
  test.each(Object.entries(AGENTS))(
    'a thread of %s that is gone can be read and deleted',
    async (_, { agent, input }) => {
      const shared = await open()
      const before = await serveAgents({ agents: { old: agent() }, ...(await shared()) })
      const first = before.thread('kept')
      await first.start(input)
      const events = await first.transcript()
      const was = {
        thread: (await first.get('')).body,
        state: (await first.get('/state')).body,
        history: (await first.get('/history')).body,
      }

      const host = await serveAgents({ agents: OTHER, ...(await shared()) })
      const thread = host.thread('kept')
      expect((await thread.get('')).body).toMatchObject({
        status: was.thread.status,
        metadata: { assistant_id: 'old' },
        values: was.thread.values,
      })
      const { body: state } = await thread.get('/state')
      expect(state.values).toEqual(was.state.values)
      expect(state.checkpoint).toEqual(was.state.checkpoint)
      const asked = (one: typeof state) =>
        one.tasks.flatMap((task: { interrupts: { id: string }[] }) => task.interrupts.map(({ id }) => id))
      expect(asked(state)).toEqual(asked(was.state))
      const { body: history } = await thread.get('/history')
      // Only the graph knows the defaults of channels that were not written yet, as in its first checkpoint.
      const valuesOf = (all: (typeof state)[]) => all.slice(0, -1).map((one) => one.values)
      expect(valuesOf(history)).toEqual(valuesOf(was.history))
      expect(history).toHaveLength(was.history.length)
      expect((await thread.get('/history?limit=1')).body).toHaveLength(1)
      expect((await thread.ok('state.get')).values).toEqual(was.state.values)
      expect((await thread.ok('state.listCheckpoints')).checkpoints).toHaveLength(was.history.length)
      expect((await thread.ok('agent.getTree')).tree).toBeDefined()
      expect((await thread.transcript()).map(({ event_id }) => event_id)).toEqual(
        events.map(({ event_id }) => event_id),
      )
      const base = `${host.origin}/threads`
      const found = await fetch(`${base}/search`, { method: 'POST', body: '{"metadata":{"graph_id":"old"}}' })
      expect(await found.json()).toMatchObject([{ thread_id: 'kept', values: was.thread.values }])
      expect(await (await fetch(base)).json()).toMatchObject([{ id: 'kept' }])

      const names = 'Unknown assistant "old". This server has: "other", "third".'
      const [id = 'none'] = asked(state)
      for (const [method, params] of [
        ['run.start', { input }],
        ['run.start', { input, assistant_id: 'old' }],
        ['run.start', { input, assistant_id: 'other' }],
        ['input.respond', { interrupt_id: id, response: 'yes' }],
        ['state.fork', { checkpoint_id: state.checkpoint.checkpoint_id }],
      ] as const)
        expect(await thread.command(method, params)).toMatchObject({
          error: 'invalid_argument',
          message: names,
        })
      const written = await thread.post('/state', { values: input })
      expect(written).toMatchObject({ status: 400, body: { message: names } })
      expect((await thread.get('/state')).body).toEqual(state)

      expect((await thread.request('DELETE', '')).status).toBe(204)
      expect((await thread.get('/state')).status).toBe(404)
      expect((await before.thread('kept').get('/state')).status).toBe(404)
    },
  )

  test('a thread goes on under an alias of its agent', async () => {
    const shared = await open()
    const before = await serveAgents({ agents: { old: asks }, ...(await shared()) })
    await before.thread('t').start(question)
    await before.thread('t').transcript()

    const asked: ThreadResource[] = []
    const host = await serveAgents({
      agents: { now: asks, ...OTHER },
      aliases: { old: 'now', older: 'now' },
      ...(await shared()),
      authorize: (_, __, resource) => asked.push(resource) > 0,
    })
    const thread = host.thread('t')
    await thread.start('yes')
    expect(rootStates(await thread.transcript(2)).at(-1)).toBe('completed')
    expect(asked.at(-2)).toMatchObject({ assistantId: 'now' })
    for (const [runs, assistant_id] of [
      [3, 'old'],
      [4, 'now'],
      [5, 'older'],
    ] as const) {
      asked.length = 0
      await thread.start(question, { assistant_id })
      expect(asked[0]).toMatchObject({ assistantId: 'now' })
      await thread.transcript(runs)
    }
    expect(await thread.refused('run.start', { input: question, assistant_id: 'other' })).toBe(
      'invalid_argument',
    )
    const made = await fetch(`${host.origin}/threads`, {
      method: 'POST',
      body: '{"metadata":{"graph_id":"old"}}',
    })
    expect(await made.json()).toMatchObject({ metadata: { graph_id: 'now', assistant_id: 'now' } })
  })
})

test('runs of an agent that is gone end as failed, and the thread is free', async () => {
  const shared = sharedMemory()
  const old = puppet()
  const first = await serveAgents({ agents: { old: old.agent }, ...shared(), leaseTtlMs: 200 })
  const thread = first.thread('t')
  await thread.start()
  old.emit(custom(1))
  await thread.start()
  await thread.start()
  const errors: unknown[] = []
  const second = createAgentServer({
    agents: OTHER,
    ...shared(),
    leaseTtlMs: 200,
    onError: (error) => errors.push(error),
  })
  onTestFinished(() => second.close())
  // The first server hands nothing over, because its agent is not resumable. Its queued runs are left.
  await first.server.close()
  const { engine } = second
  await expect.poll(async () => (await engine.findThread({ threadId: 't' }))?.queue.length).toBe(0)
  await expect.poll(async () => (await engine.findThread({ threadId: 't' }))?.activeRunId).toBe(null)
  expect((await engine.findThread({ threadId: 't' }))?.status).toBe('error')
  expect(errors.map(String)).toEqual(Array(2).fill(expect.stringContaining('Unknown assistant "old"')))
  expect(await engine.deleteThread({ threadId: 't' })).toBe(true)
})

test.each([
  [{ a: 'b' }, 'aliases.a: unknown agent "b".'],
  [{ other: 'third' }, 'aliases.other: it is the name of an agent.'],
])('aliases %j are refused', (aliases, message) => {
  expect(() => createAgentServer({ agents: OTHER, aliases })).toThrow(message)
})
