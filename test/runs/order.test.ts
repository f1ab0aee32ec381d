import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { FencedError } from '../../src/storage/errors.ts'
import { openStorage } from '../../src/storage/open.ts'
import { calculator, chat, fanOut, inOrder, nestedApproval, researchers } from '../fixtures/graphs.ts'
import { BACKENDS } from '../kit/backends.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import type { WireEvent } from '../kit/events.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { type Place, sharedMemory } from '../kit/shared.ts'
import { aborted, gate } from '../kit/wait.ts'

/** What the log had when a checkpoint, or the result of a task, was about to be saved. */
interface Write {
  readonly what: 'checkpoint' | 'result'
  /** Of the checkpoint, or the task. */
  readonly id: string
  readonly head: number
}

/** A saver over which each write is noted, with the head of the log at that time. */
function noting({ store, checkpointer }: Place) {
  const writes: Write[] = []
  const note = async (what: Write['what'], id: string) =>
    writes.push({ what, id, head: (await store.inspect('t')).head })
  const noted: Place['checkpointer'] = Object.assign(Object.create(checkpointer), {
    // Such views would pass by what is noted here.
    withFence: undefined,
    withSerde: undefined,
    getTuple: checkpointer.getTuple.bind(checkpointer),
    list: checkpointer.list.bind(checkpointer),
    async put(...args: Parameters<typeof checkpointer.put>) {
      await note('checkpoint', args[1].id)
      return checkpointer.put(...args)
    },
    async putWrites(...args: Parameters<typeof checkpointer.putWrites>) {
      // A task that asks has no result: it runs again, and sends its events again.
      if (!args[1].some(([channel]) => channel === '__interrupt__')) await note('result', args[2])
      return checkpointer.putWrites(...args)
    },
  })
  return { place: { store, checkpointer: noted }, writes }
}

const isCheckpoint = (id: string) => (event: WireEvent) =>
  event.method === 'checkpoints' && event.params.data.id === id
const isOfTask = (id: string) => (event: WireEvent) =>
  (event.method === 'tasks' && event.params.data.id === id && 'result' in event.params.data) ||
  event.params.namespace.some((segment) => segment.endsWith(`:${id}`))

const talker = defineAgent({
  resumable: true,
  async run({ message, tool, subagent, custom, setState }) {
    await message('First.')
    await tool('add', { a: 2 }, async ({ output }) => {
      await output('half')
      return 5
    })
    await custom({ at: 'middle' })
    await setState({ middle: true })
    await subagent('researcher', 'Find x', async (inner) => void (await inner.message('x is 5')))
    return { done: true }
  },
})

const AGENTS: Readonly<Record<string, () => Agent>> = {
  'a graph that streams': () => langgraph(chat()),
  'a graph with tools': () => langgraph(calculator()),
  'a graph with a subagent': () => langgraph(researchers()),
  'a graph with parallel tasks': () => langgraph(fanOut(['a', 'b', 'c'])),
  'a graph that asks in a subgraph': () => langgraph(nestedApproval()),
  'a long answer': () => langgraph(chat(inOrder({ text: 'word '.repeat(3_000) }))),
  'a function': () => talker,
}

const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

const STORES: Readonly<Record<string, () => Promise<Place>>> = {
  memory: async () => sharedMemory()(),
  ...Object.fromEntries(
    BACKENDS.filter((backend) => backend.installed()).map((backend) => [
      backend.name,
      async () => {
        const database = await backend.create()
        const storage = await openStorage(database.url)
        await storage.setup()
        closing.push(async () => {
          await storage.close()
          await database.remove()
        })
        return storage
      },
    ]),
  ),
}

describe.each(Object.entries(STORES))('over %s', (_, open) => {
  test.each(Object.entries(AGENTS))(
    '%s: when a checkpoint is saved, the log has all events that led to it',
    async (_name, agent) => {
      const { place, writes } = noting(await open())
      const engine = engineOf({ a: agent() }, place)
      onTestFinished(() => engine.close())
      await start(engine, 't', { messages: [{ type: 'human', content: 'Hi', id: 'h' }] })
      const log = await transcript(engine, 't')
      expect(writes.length).toBeGreaterThan(0)
      for (const { what, id, head } of writes) {
        // A checkpoint that is not announced, such as that of an input, was led to by no event.
        const announced = log.findIndex(isCheckpoint(id))
        if (what === 'checkpoint') expect(head, `${id} of ${announced}`).toBeGreaterThanOrEqual(announced)
        else expect(head, id).toBeGreaterThanOrEqual(log.findLastIndex(isOfTask(id)) + 1)
      }
    },
  )
})

test('a run that is handed over saves nothing whose events another process would not send again', async () => {
  const { store, checkpointer } = sharedMemory()()
  const { opened: atWork, open: begun } = gate()
  const { opened: refused, open: refuse } = gate()
  const agent: Agent = {
    ...puppet().agent,
    resumable: true,
    async *stream({ checkpointer: saver, threadId, runId, signal }) {
      yield custom('begun')
      begun()
      await aborted(signal)
      const channels = { channel_values: {}, channel_versions: {}, versions_seen: {} }
      const at = { configurable: { thread_id: threadId, checkpoint_ns: '' } }
      const checkpoint = { v: 4, id: runId, ts: '', ...channels }
      await saver.put(at, checkpoint, { source: 'loop', step: 0, parents: {} }, {}).catch((error) => {
        expect(error).toBeInstanceOf(FencedError)
        refuse()
      })
      yield custom('too late')
    },
  }
  const engine = engineOf({ a: agent }, { store, checkpointer, drainMs: 0 })
  await start(engine, 't')
  await atWork
  await engine.close()
  await refused
  expect(await checkpointer.getTuple({ configurable: { thread_id: 't', checkpoint_ns: '' } })).toBeUndefined()
})
