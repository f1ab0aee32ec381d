import { describe, expect, onTestFinished, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import type { AgentEngine } from '../../../src/engine/index.ts'
import { numberedFrames, readFrames } from '../../../src/faces/rest/frames/read-frames.ts'
import { failing } from '../../fixtures/failing.ts'
import { calculator, chat, inOrder, nestedApproval, threeSteps } from '../../fixtures/graphs.ts'
import { DATABASES } from '../../kit/databases.ts'
import { engineOf } from '../../kit/engine.ts'
import { killable, sharedMemory } from '../../kit/shared.ts'

interface Shown {
  readonly id: number
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  readonly data: any
}

const human = { messages: [{ type: 'human', content: 'go', id: 'h' }] }

async function framesOf(engine: AgentEngine, runId: string, more: object = {}): Promise<readonly Shown[]> {
  const frames: Shown[] = []
  for await (const batch of numberedFrames({ engine }, { threadId: 't', principal: null, runId, ...more }))
    for (const { id, event, namespace, data } of batch)
      frames.push({
        id,
        event: [event, ...namespace].join('|'),
        data: JSON.parse(JSON.stringify(data) ?? 'null'),
      })
  return frames
}

const startOf = (engine: AgentEngine, modes: readonly string[] | undefined, more: object = {}) =>
  engine.start({
    threadId: 't',
    assistantId: 'a',
    input: human,
    ...(modes && { classic: { modes, subgraphs: false } }),
    ...more,
  })

const ALL = [
  'values',
  'updates',
  'messages',
  'messages-tuple',
  'custom',
  'tasks',
  'checkpoints',
  'debug',
  'tools',
]

describe.each(Object.entries(DATABASES))('over %s', (_, create) => {
  test('every instance gives the same frames after every frame, while the run goes on and later', async () => {
    const open = await create()
    const instance = async () => {
      const engine = engineOf({ a: langgraph(calculator()) }, { ...(await open()), leaseTtlMs: 30_000 })
      onTestFinished(() => engine.close())
      return engine
    }
    const [first, second] = [await instance(), await instance()]
    const { runId } = await startOf(first, ALL)
    const [all, elsewhere] = await Promise.all([framesOf(first, runId), framesOf(second, runId)])
    expect(all.map(({ id }) => id)).toEqual(all.map((_, at) => at))
    expect(elsewhere).toEqual(all)
    expect(await framesOf(second, runId, { lastEventId: '-1' })).toEqual(all)
    for (const at of [0, 1, 7, all.length - 2, all.length - 1])
      expect(await framesOf(second, runId, { lastEventId: String(at) })).toEqual(all.slice(at + 1))
    const values = await framesOf(second, runId, { modes: ['values'] })
    expect(values).toEqual(all.filter(({ event }) => event === 'values' || event === 'metadata'))
  })
})

test('the mode messages gives each message as far as it is written, and whole once the state has it', async () => {
  const engine = engineOf({ a: langgraph(chat(inOrder({ text: 'Hello to you.' }))) })
  const { runId } = await startOf(engine, ['messages', 'values'])
  const frames = await framesOf(engine, runId)
  const partial = frames.filter(({ event }) => event === 'messages/partial').map(({ data }) => data[0])
  expect(partial.map(({ content }) => content)).toEqual(
    expect.arrayContaining(['Hello ', 'Hello to ', 'Hello to you.']),
  )
  const about = frames.filter(({ event }) => event === 'messages/metadata')
  expect(about).toHaveLength(1)
  expect(about[0]?.data[partial[0].id].metadata).toMatchObject({ langgraph_node: 'model', run_id: runId })
  const last = frames.at(-1)!
  expect(last.event).toBe('messages/complete')
  expect(last.data).toMatchObject([{ id: partial[0].id, content: 'Hello to you.', type: 'ai' }])
  const complete = frames.filter(({ event }) => event === 'messages/complete').flatMap(({ data }) => data)
  expect(complete.map(({ id }) => id)).toEqual(['h', partial[0].id])
})

test('the mode events gives the events of every runnable', async () => {
  const engine = engineOf({ a: langgraph(chat()) })
  const { runId } = await startOf(engine, ['events'])
  const frames = await framesOf(engine, runId)
  expect(new Set(frames.slice(1).map(({ data }) => data.event))).toEqual(
    new Set([
      'on_chain_start',
      'on_chat_model_start',
      'on_chat_model_stream',
      'on_chat_model_end',
      'on_chain_end',
    ]),
  )
})

test('a checkpoint of the mode debug names the checkpoints that the history has', async () => {
  const engine = engineOf({ a: langgraph(threeSteps()) })
  const { runId } = await startOf(engine, ['debug'], { input: { notes: ['in'] } })
  const frames = await framesOf(engine, runId)
  const thread = (await engine.findThread({ threadId: 't' }))!
  const history = []
  for await (const { checkpoint, parentCheckpoint, values, next } of engine.readHistory(thread, {}, {}))
    history.push({ id: checkpoint.checkpointId, parent: parentCheckpoint?.checkpointId, values, next })
  const told = frames
    .filter(({ data }) => data.type === 'checkpoint')
    .map(({ data: { payload } }) => ({
      id: payload.checkpoint.checkpoint_id,
      parent: payload.parent_checkpoint?.checkpoint_id,
      values: payload.values,
      next: payload.next,
    }))
  expect(told.reverse()).toEqual(history)
  const tasks = frames.filter(({ data }) => data.type === 'task_result')
  expect(tasks.map(({ data }) => data.payload.name)).toEqual(['one', 'two', 'three'])
})

class CustomError extends Error {}

test.each([
  ['told', (error: unknown) => (error as Error).message, { error: 'CustomError', message: 'Boo!' }],
  ['hidden', undefined, { error: 'Error', message: expect.stringContaining('Error id') }],
])('a failed run ends with an error: %s', async (_, errorMessage, expected) => {
  const graph = threeSteps((name) => {
    if (name === 'two') throw new CustomError('Boo!')
  })
  const engine = engineOf({ a: langgraph(graph) }, { errorMessage, onError: () => {} })
  const { runId } = await startOf(engine, ['values'], { input: { notes: ['in'] } })
  expect((await framesOf(engine, runId)).at(-1)).toMatchObject({ event: 'error', data: expected })
})

test.each([
  ['classic', ['values']],
  ['of the protocol', undefined],
])('a run that stops before a node ends with an interrupt of nobody: %s', async (_, modes) => {
  const engine = engineOf({ a: langgraph(threeSteps()) })
  const config = { configurable: {}, interruptBefore: ['two'] }
  const { runId } = await startOf(engine, modes, { input: { notes: ['in'] }, config })
  expect((await framesOf(engine, runId)).map(({ event, data }) => [event, data])).toEqual([
    ['metadata', { run_id: runId, attempt: 1 }],
    ['values', { notes: ['in'] }],
    ['values', { notes: ['in', 'one'] }],
    ['values', { __interrupt__: [] }],
  ])
})

test('a run of the protocol gives what the log has: states, updates, tasks, questions and the text of messages', async () => {
  const modes = ['values', 'updates', 'tasks']
  const input = { notes: ['in'] }
  const kinds = async (classic: readonly string[] | undefined) => {
    const engine = engineOf({ a: langgraph(nestedApproval()) })
    const { runId } = await startOf(engine, classic, { input })
    return (await framesOf(engine, runId, { modes, subgraphs: false })).map(({ event, data }) => [
      event,
      Object.keys(data),
    ])
  }
  expect(await kinds(undefined)).toEqual(await kinds(modes))
  const engine = engineOf({ a: langgraph(calculator()) })
  const { runId } = await startOf(engine, undefined)
  const tuples = await framesOf(engine, runId, { modes: ['messages-tuple'] })
  const text = tuples.slice(1).map(({ data: [message] }) => message.content)
  expect(text.join('')).toBe('Let me add.It is five.')
  const args = tuples.slice(1).flatMap(({ data: [message] }) => message.tool_call_chunks)
  expect(JSON.parse(args.map((call) => call.args).join(''))).toEqual({ a: 2, b: 3 })
})

test('a run whose process is lost goes on elsewhere as the next attempt, and its state has each step once', async () => {
  const shared = sharedMemory()
  let mayGoOn = false
  let reached = () => {}
  const atTwo = new Promise<void>((resolve) => {
    reached = resolve
  })
  const graph = () =>
    threeSteps(async (name) => {
      if (name !== 'two' || mayGoOn) return
      reached()
      await new Promise(() => {})
    })
  const lost = killable(shared())
  const options = { leaseTtlMs: 300, cancelGraceMs: 5, onError: () => {} }
  const first = engineOf({ a: langgraph(graph()) }, { ...lost.place, ...options })
  const second = engineOf({ a: langgraph(graph()) }, { ...shared(), ...options })
  onTestFinished(async () => {
    await Promise.all([first.close(), second.close()])
  })
  const { runId } = await startOf(first, ['values'], { input: { notes: ['in'] } })
  await atTwo
  mayGoOn = true
  lost.kill()
  const frames = await framesOf(second, runId)
  expect(frames.filter(({ event }) => event === 'metadata').map(({ data }) => data.attempt)).toEqual([1, 2])
  expect(frames.at(-1)?.data).toEqual({ notes: ['in', 'one', 'two', 'three'] })
  expect(await framesOf(second, runId)).toEqual(frames)
})

test('the frames are sent as server-sent events, and a reader that leaves ends its subscription', async () => {
  const engine = engineOf({ a: langgraph(threeSteps()) })
  const { runId } = await startOf(engine, ['values'], { input: { notes: ['in'] } })
  await engine.wait({ threadId: 't', runId })
  const context = { engine, authorize: undefined, onError: undefined } as never
  const source = readFrames(context, { threadId: 't', principal: null, runId, lastEventId: '3' })
  const bytes = await source.next()
  expect(new TextDecoder().decode(bytes)).toBe(
    'id: 4\nevent: values\ndata: {"notes":["in","one","two","three"]}\n\n',
  )
  source.cancel()
  expect((await engine.measure()).subscribers).toBe(0)
})

test.each(['tools', 'events', 'debug'])(
  'the text of an error of a tool is hidden in the mode %s too',
  async (mode) => {
    const engine = engineOf({ a: langgraph(failing()) }, { errorMessage: undefined, onError: () => {} })
    const { runId } = await startOf(engine, [mode])
    const frames = await framesOf(engine, runId)
    expect(frames.length).toBeGreaterThan(3)
    expect(JSON.stringify(frames)).not.toContain('secret of the tool')
  },
)
