import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { approval, calculator, chat, nestedApproval, researchers, threeSteps } from '../../fixtures/graphs.ts'
import { dataOf, type Json, rootStates } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'
import { puppet } from '../../kit/puppet.ts'

const question = { messages: [{ type: 'human', content: 'Q', id: 'h1' }] }

const serve = async (graph: Parameters<typeof langgraph>[0]) => {
  const host = await serveAgents({ agents: { a: langgraph(graph) } })
  return host.thread()
}

describe('state.get', () => {
  test('gives the values and the checkpoint, all keys or some', async () => {
    const thread = await serve(threeSteps())
    await thread.start({ notes: ['in'] })
    const { values, checkpoint } = await thread.idle()
    expect(await thread.ok('state.get', { namespace: [] })).toEqual({
      values,
      checkpoint: { id: checkpoint.checkpoint_id, ns: '' },
    })
    expect(await thread.ok('state.get')).toMatchObject({ values })
    expect((await thread.ok('state.get', { keys: ['notes', 'none'] })).values).toEqual({
      notes: values.notes,
    })
    expect((await thread.ok('state.get', { keys: [] })).values).toEqual({})
  })

  test('gives the state of a subgraph by its namespace', async () => {
    const thread = await serve(nestedApproval())
    await thread.start()
    const [asked] = (await thread.transcript()).filter(({ method }) => method === 'input.requested')
    const sub = asked!.params.namespace.slice(0, 1)
    expect(await thread.ok('state.get', { namespace: sub })).toMatchObject({
      values: { notes: ['inner'] },
      checkpoint: { ns: sub[0] },
    })
    expect(await thread.refused('state.get', { namespace: ['nowhere:1'] })).toBe('no_such_namespace')
  })

  test('is empty for a thread without a checkpoint, and refused for a missing thread', async () => {
    const host = await serveAgents({ agents: { a: puppet().agent } })
    const thread = host.thread()
    expect(await thread.refused('state.get', { namespace: [] })).toBe('no_such_run')
    await thread.start()
    expect(await thread.ok('state.get', { namespace: [] })).toEqual({ values: {} })
  })
})

describe('state.listCheckpoints', () => {
  test('lists the newest first, in pages', async () => {
    const thread = await serve(threeSteps())
    await thread.start()
    await thread.idle()
    const { checkpoints } = await thread.ok('state.listCheckpoints')
    expect(checkpoints.map(({ step }: Json) => step)).toEqual([3, 2, 1, 0, -1])
    for (const { id, timestamp, metadata } of checkpoints) {
      expect(id).toEqual(expect.any(String))
      expect(new Date(timestamp).toISOString()).toBe(timestamp)
      expect(metadata).toMatchObject({ source: expect.any(String) })
    }
    const ids = checkpoints.map(({ id }: Json) => id)
    expect(checkpoints.map(({ parent_id }: Json) => parent_id)).toEqual([...ids.slice(1), undefined])
    expect(checkpoints[1].node_name).toBe('three')
    const page = await thread.ok('state.listCheckpoints', { limit: 2, before: checkpoints[0].id })
    expect(page.checkpoints).toEqual(checkpoints.slice(1, 3))
    const last = await thread.ok('state.listCheckpoints', { before: checkpoints[4].id })
    expect(last.checkpoints).toEqual([])
  })

  test('lists the checkpoints of a subagent by its namespace', async () => {
    const thread = await serve(researchers())
    await thread.start(question)
    const started = (await thread.transcript()).find(({ params }) => params.data.tool_name === 'task')!
    const { checkpoints } = await thread.ok('state.listCheckpoints', { namespace: started.params.namespace })
    expect(checkpoints.length).toBeGreaterThan(2)
  })
})

describe('state.fork', () => {
  test('starts a run from the checkpoint', async () => {
    const thread = await serve(threeSteps())
    await thread.start()
    await thread.idle()
    const { checkpoints } = await thread.ok('state.listCheckpoints')
    const one = checkpoints.find(({ step }: Json) => step === 1)
    for (const key of ['checkpoint_id', 'checkpointId']) {
      const { run_id, thread_id } = await thread.ok('state.fork', { [key]: one.id, input: { notes: [key] } })
      expect(thread_id).toBe(thread.id)
      const events = await (await thread.stream()).until((seen) => rootStates(seen).length === 2)
      expect(events.at(-1)!.params.data).toMatchObject({ event: 'completed', run_id })
      expect((await thread.idle()).values.notes).toEqual(['one', key, 'one', 'two', 'three'])
    }
  })

  test('continues from the checkpoint when it has no input', async () => {
    const thread = await serve(threeSteps())
    await thread.start()
    await thread.idle()
    const { checkpoints } = await thread.ok('state.listCheckpoints')
    const two = checkpoints.find(({ step }: Json) => step === 2)
    await thread.ok('state.fork', { checkpoint_id: two.id })
    expect((await thread.idle()).values.notes).toEqual(['one', 'two', 'three'])
    const { checkpoints: after } = await thread.ok('state.listCheckpoints')
    expect(after.some(({ metadata }: Json) => metadata.source === 'fork')).toBe(true)
  })

  test('needs a thread and a checkpoint', async () => {
    const thread = await serve(threeSteps())
    expect(await thread.refused('state.fork', { checkpoint_id: 'x' })).toBe('no_such_run')
    await thread.start()
    await thread.idle()
    expect(await thread.refused('state.fork', {})).toBe('invalid_argument')
    expect(await thread.refused('state.fork', { checkpoint_id: 7 })).toBe('invalid_argument')
  })
})

describe('agent.getTree', () => {
  test('gives the namespaces of the newest run and their ends', async () => {
    const thread = await serve(researchers())
    const run_id = await thread.start(question)
    await thread.idle()
    const { tree } = await thread.ok('agent.getTree')
    expect(tree).toMatchObject({ namespace: [], status: 'completed', graph_name: 'a' })
    const tools = tree.children.find(({ graph_name }: Json) => graph_name === 'tools')
    expect(tools).toMatchObject({ status: 'completed', namespace: [expect.stringMatching(/^tools:/)] })
    expect(tools.children.map(({ graph_name }: Json) => graph_name)).toEqual(
      expect.arrayContaining(['model_request', 'tools']),
    )
    for (const params of [{ run_id }, { runId: run_id }])
      expect(await thread.ok('agent.getTree', params)).toEqual({ tree })
  })

  test('distinguishes a run that waits from one in progress', async () => {
    const actor = puppet()
    const host = await serveAgents({ agents: { a: actor.agent, ask: langgraph(approval()) } })
    const running = host.thread()
    await running.start({}, { assistant_id: 'a' })
    expect((await running.ok('agent.getTree')).tree).toEqual({
      namespace: [],
      status: 'running',
      graph_name: 'a',
    })
    const waits = host.thread()
    await waits.start({}, { assistant_id: 'ask' })
    await waits.idle()
    expect((await waits.ok('agent.getTree')).tree.status).toBe('interrupted')
  })

  test('is refused for an unknown thread or run', async () => {
    const thread = await serve(threeSteps())
    expect(await thread.refused('agent.getTree')).toBe('no_such_run')
    await thread.start()
    await thread.idle()
    expect(await thread.refused('agent.getTree', { run_id: 'none' })).toBe('no_such_run')
  })
})

describe('input.inject', () => {
  const message = { role: 'user', content: 'by the way' }

  test('adds the message with an id to the state of an idle thread', async () => {
    for (const graph of [chat(), calculator()]) {
      const thread = await serve(graph)
      await thread.start(question)
      const { values } = await thread.idle()
      expect(await thread.ok('input.inject', { namespace: [], message })).toEqual({})
      const after = (await thread.get('/state')).body
      expect(after.values.messages.slice(0, -1)).toEqual(values.messages)
      expect(after.values.messages.at(-1)).toMatchObject({
        type: 'human',
        content: 'by the way',
        id: expect.any(String),
      })
    }
  })

  test('takes a system message with a name', async () => {
    const thread = await serve(chat())
    await thread.start(question)
    await thread.idle()
    await thread.ok('input.inject', { message: { role: 'system', content: 'Be brief.', name: 'boss' } })
    expect((await thread.get('/state')).body.values.messages.at(-1)).toMatchObject({
      type: 'system',
      content: 'Be brief.',
      name: 'boss',
    })
  })

  test('makes the message the next input when a run is in progress', async () => {
    const actor = puppet()
    const host = await serveAgents({ agents: { a: actor.agent } })
    const thread = host.thread()
    await thread.start()
    await thread.ok('input.inject', { message })
    actor.finish()
    actor.finish()
    expect(rootStates(await thread.transcript(2))).toEqual(['running', 'completed', 'running', 'completed'])
    expect(actor.tasks[1]!.start).toMatchObject({
      value: { messages: [{ type: 'human', content: 'by the way' }] },
    })
  })

  test('is refused while a question is open, because a state update would remove the question', async () => {
    const thread = await serve(approval())
    await thread.start()
    const [asked] = dataOf(await thread.transcript(), 'input.requested')
    const before = (await thread.get('/state')).body
    expect(await thread.refused('input.inject', { message })).toBe('not_supported')
    expect((await thread.get('/state')).body).toEqual(before)
    await thread.ok('input.respond', { interrupt_id: asked.interrupt_id, response: 'yes' })
    expect(await thread.idle()).toMatchObject({ next: [] })
  })

  test('refuses what is not a message', async () => {
    const thread = await serve(chat())
    expect(await thread.refused('input.inject', { message })).toBe('no_such_run')
    await thread.start(question)
    const { values } = await thread.idle()
    for (const wrong of [
      undefined,
      'text',
      { role: 'ai', content: 'x' },
      { role: 'user' },
      { role: 'user', content: 7 },
    ])
      expect(await thread.refused('input.inject', { message: wrong })).toBe('invalid_argument')
    expect((await thread.get('/state')).body.values).toEqual(values)
  })
})
