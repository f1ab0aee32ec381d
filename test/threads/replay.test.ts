import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { approval, chat, threeSteps } from '../fixtures/graphs.ts'
import type { ThreadClient } from '../kit/client.ts'
import { dataOf, isRoot, isTerminal, type Json, rootStates } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { hesitant } from './sdk/graphs.ts'
import { inSecondRun } from './second-run.ts'

/** A replay to a client without a cursor leaves out the past that a fork, a write or a rollback has replaced. */

const human = (content: string) => ({ messages: [{ type: 'human', content, id: content }] })

/** The replay that a new client gets, up to the end of the newest run. */
const replay = async (thread: ThreadClient) =>
  (await thread.stream()).until((events) => events.some(isTerminal))

test('after a fork a new client gets the state and then the run that forked, and a cursor still gets all', async () => {
  const host = await serveAgents({ agents: { steps: langgraph(threeSteps()) } })
  const thread = host.thread()
  await thread.start({ notes: ['first'] })
  await thread.idle()
  const { body: history } = await thread.post('/history', { limit: 20 })
  const one = history.find(({ values }: Json) => values.notes.length === 2)
  await thread.start(
    { notes: ['fork'] },
    { config: { configurable: { checkpoint_id: one.checkpoint.checkpoint_id } } },
  )
  const all = await thread.transcript(2)
  const fork = all.slice(
    all.findIndex((event) => isRoot(event) && event.params.data.run_id === all.at(-1)!.params.data.run_id),
  )
  const [checkpoints, values, ...rest] = await replay(thread)
  expect(rest).toEqual(fork)
  const state = (await thread.get('/state')).body
  expect(checkpoints!.params.data).toMatchObject({
    id: state.checkpoint.checkpoint_id,
    step: state.metadata.step,
  })
  expect(values!.params.data).toEqual(state.values)
})

test('after a write onto an earlier checkpoint a new client gets the state and the status of the newest run', async () => {
  const host = await serveAgents({ agents: { steps: langgraph(threeSteps()) } })
  const thread = host.thread()
  await thread.start({ notes: ['first'] })
  await thread.idle()
  const { body: history } = await thread.post('/history', { limit: 20 })
  const one = history.find(({ values }: Json) => values.notes.length === 2)
  await thread.post('/state', {
    values: { notes: ['edited'] },
    as_node: 'one',
    checkpoint_id: one.checkpoint.checkpoint_id,
  })
  const events = await replay(thread)
  expect(events.map(({ method }) => method)).toEqual(['checkpoints', 'values', 'lifecycle', 'lifecycle'])
  expect(events[1]!.params.data).toEqual({ notes: ['first', 'one', 'edited'] })
  expect(rootStates(events)).toEqual(['running', 'completed'])
})

describe('after a rollback', () => {
  async function rolledBack() {
    const { thread, before, run } = await inSecondRun()
    await thread.post(`/runs/${run}/cancel?wait=1&action=rollback`)
    return { thread, before, run }
  }

  test('a new client gets the state and the end of the newest run', async () => {
    const { thread, before, run } = await rolledBack()
    const [checkpoints, values, ...rest] = await replay(thread)
    expect(checkpoints!.params.data.id).toBe(before.checkpoint.checkpoint_id)
    expect(values!.params.data).toEqual(before.values)
    expect(rest.map(({ params }) => params.data)).toMatchObject([
      { event: 'running', run_id: run },
      { event: 'interrupted', run_id: run },
    ])
  })

  test('the next run is replayed whole', async () => {
    const { thread, before } = await rolledBack()
    await thread.start({ notes: ['third'] })
    const all = await thread.transcript(3)
    const [, values, ...rest] = await replay(thread)
    expect(values!.params.data.notes.slice(0, before.values.notes.length)).toEqual(before.values.notes)
    expect(rest).toEqual(all.slice(-rest.length))
    expect(rest[0]!.params.data.event).toBe('running')
    expect(JSON.stringify(rest)).not.toContain('second')
  })

  test('of an answer the question is replayed', async () => {
    const actor = puppet()
    const host = await serveAgents({ agents: { a: actor.agent } })
    const thread = host.thread()
    await thread.start()
    actor.emit({ method: 'input.requested', namespace: [], data: { interrupt_id: 'i', payload: '?' } })
    actor.finish()
    await thread.idle()
    const { run_id } = await thread.ok('input.respond', { interrupt_id: 'i', response: 1 })
    await thread.post(`/runs/${run_id}/cancel?wait=1&action=rollback`)
    expect(dataOf(await replay(thread), 'input.requested')).toEqual([
      { interrupt_id: 'i', payload: '?', value: '?' },
    ])
  })
})

describe('a message that its run did not finish', () => {
  test.each(['cancelled', 'failed'])(
    'is left out of a replay when the run was %s, and stays in the log',
    async (how) => {
      const actor = puppet()
      const host = await serveAgents({ agents: { a: actor.agent } })
      const thread = host.thread()
      const run = await thread.start()
      const half = {
        method: 'messages',
        namespace: [],
        node: 'n',
        data: { event: 'message-start', id: 'half' },
      } as const
      actor.emit(custom('whole'), half)
      const live = await thread.stream()
      await live.until((events) => events.some(({ method }) => method === 'messages'))
      if (how === 'cancelled') await thread.post(`/runs/${run}/cancel?wait=1`)
      else actor.fail(new Error('kaput'))
      await live.until((events) => events.some(isTerminal))
      const events = await replay(thread)
      expect(events).toEqual(live.events.filter(({ method }) => method !== 'messages'))
      const end = expect.objectContaining({ event: 'error', code: 'superseded' })
      expect(dataOf(await thread.transcript(), 'messages')).toEqual([half.data, end])
      await thread.start()
      actor.emit({ ...half, data: { ...half.data, id: 'next' } })
      actor.finish()
      expect(dataOf(await replay(thread), 'messages')).toEqual([{ event: 'message-start', id: 'next' }, end])
    },
  )

  test('is replayed while the run is in progress, and when it waits for an answer', async () => {
    const { graph, reached, release } = hesitant()
    const host = await serveAgents({
      agents: { chat: langgraph(graph), ask: langgraph(approval()), whole: langgraph(chat()) },
    })
    const thread = host.thread()
    await thread.start(human('Count'), { assistant_id: 'chat' })
    await reached
    await (await thread.stream()).until((events) =>
      dataOf(events, 'messages').some(({ delta }) => delta?.text === 'two '),
    )
    release()
    const events = await replay(thread)
    expect(dataOf(events, 'messages').some(({ delta }) => delta?.text === 'four')).toBe(true)
  })
})

test('the state that a new stream begins with is not newer than the log that follows', async () => {
  const agent = langgraph(threeSteps())
  let meanwhile: (() => Promise<void>) | undefined
  const host = await serveAgents({
    agents: {
      steps: {
        ...agent,
        async getState(...args) {
          const work = meanwhile
          meanwhile = undefined
          await work?.()
          return agent.getState(...args)
        },
      },
    },
  })
  const thread = host.thread()
  await thread.post('/state', { values: { notes: ['written'] } })
  // A run is over between the moment at which the stream found an empty log and that at which it reads the state.
  meanwhile = async () => {
    await thread.start({ notes: ['run'] })
    await thread.idle()
  }
  const events = await replay(thread)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
  expect(rootStates(events)).toEqual(['running', 'completed'])
})
