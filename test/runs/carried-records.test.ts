import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { sleep } from '../../src/core/time.ts'
import { type AgentEngine, createAgentEngine, RunError, type ThreadRecord } from '../../src/engine/index.ts'
import { readLog } from '../../src/engine/log/decode.ts'
import { textOf } from '../../src/messages/index.ts'
import type { LoggedEvent } from '../../src/messages/thread-events/index.ts'
import { type Place, SHARED } from '../kit/shared.ts'

/**
 * Two instances over one storage, each with the records that it carries along: whatever both do at once, nothing is decided by a
 * record that is outdated.
 */

interface Command {
  readonly what: 'start' | 'cancel' | 'answer' | 'patch'
  /** Which instance is asked. */
  readonly by: 0 | 1
  /** How long until the next command, in milliseconds. */
  readonly pause: number
  readonly strategy: 'enqueue' | 'interrupt' | 'rollback' | 'reject'
  readonly asks: boolean
  readonly slow: number
}

const command = fc.record<Command>({
  what: fc.constantFrom('start', 'start', 'cancel', 'answer', 'patch', 'patch'),
  by: fc.constantFrom(0, 1),
  pause: fc.constantFrom(0, 0, 1, 3, 8),
  strategy: fc.constantFrom('enqueue', 'enqueue', 'interrupt', 'rollback', 'reject'),
  asks: fc.boolean(),
  slow: fc.constantFrom(0, 1, 4),
})

/** Says `re <text>`, and asks before where it is told to. */
const agent = defineAgent({
  async run({ messages, interrupt, message }) {
    const text = textOf(messages.at(-1)!)
    const [, slow] = text.split(' ')
    await sleep(Number(slow))
    if (text.includes('ask')) await interrupt({ question: text })
    await message(`re ${text}`)
  },
})

/** A storage of which each call takes as long as it likes. */
function unhurried({ store, checkpointer }: Place, ms: () => number): Place {
  const late =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await sleep(ms())
      const result = await call(...args)
      await sleep(ms())
      return result
    }
  return {
    store: {
      ...store,
      get: late(store.get),
      inspect: late(store.inspect),
      commit: late(store.commit),
    },
    checkpointer,
  }
}

test.each(Object.entries(SHARED))(
  'two instances over %s never act on records that the other has changed',
  async (_, shared) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 2, maxLength: 14 }),
        fc.infiniteStream(fc.constantFrom(0, 0, 0, 1, 3)),
        (commands, delays) => holds(shared(), commands, () => delays.next().value),
      ),
      { numRuns: RUNS },
    )
  },
  240_000,
)

const RUNS = 40

async function holds(open: () => Place, commands: readonly Command[], delay: () => number): Promise<void> {
  const threadId = `thread-${crypto.randomUUID()}`
  const errors: unknown[] = []
  const engines = [0, 1].map(() =>
    createAgentEngine({
      agents: { a: agent },
      ...unhurried(open(), delay),
      onError: (error) => errors.push(error),
    }),
  )
  const patched = new Set<string>()
  const runs = new Set<string>()
  try {
    const under: Promise<void>[] = []
    for (const [i, asked] of commands.entries()) {
      under.push(carryOut(engines[asked.by]!, threadId, asked, i, patched, runs))
      await sleep(asked.pause)
    }
    await Promise.all(under)
    const thread = await atRest(engines[0]!, threadId)
    if (!thread) {
      expect([runs.size, patched.size]).toEqual([0, 0])
      return
    }
    expect(errors).toEqual([])
    // A run that ends writes the whole record of its thread.
    expect(Object.keys(thread.metadata).sort()).toEqual([...patched].sort())
    const log: LoggedEvent[] = []
    for await (const event of readLog(open().store, threadId, () => true)) log.push(event)
    for (const runId of runs) await expectOneEnd(engines[1]!, threadId, runId, log)
    await expectTurns(engines[0]!, thread, log)
    expect(await engines[1]!.deleteThread({ threadId })).toBe(true)
    expect(await engines[0]!.findThread({ threadId })).toBeUndefined()
    const { runId } = await engines[0]!.start({ threadId, assistantId: 'a', input: text('again 0') })
    expect(await engines[1]!.wait({ threadId, runId })).toMatchObject({ status: 'success' })
    expect((await engines[1]!.findThread({ threadId }))!.metadata).toEqual({})
  } finally {
    await Promise.all(engines.map((engine) => engine.close()))
  }
}

const text = (content: string) => ({ messages: [{ type: 'human', content }] })

async function carryOut(
  engine: AgentEngine,
  threadId: string,
  { what, strategy, asks, slow }: Command,
  i: number,
  patched: Set<string>,
  runs: Set<string>,
): Promise<void> {
  try {
    if (what === 'start') {
      const input = text(`${asks ? 'ask' : 'say'}-${i} ${slow}`)
      const answer = { details: {} }
      const { runId } = await engine.start({
        threadId,
        assistantId: 'a',
        input,
        multitaskStrategy: strategy,
        answer,
      })
      runs.add(runId)
      return
    }
    const thread = await engine.findThread({ threadId })
    if (!thread) return
    if (what === 'patch') {
      if (await engine.patchThread({ threadId, metadata: { [`key${i}`]: i } })) patched.add(`key${i}`)
    } else if (what === 'cancel' && thread.activeRunId !== null) {
      await engine.cancel({ threadId, runId: thread.activeRunId, action: asks ? 'rollback' : 'interrupt' })
    } else if (what === 'answer' && thread.interrupts[0]) {
      const { runId } = await engine.respond({ threadId, answers: { [thread.interrupts[0].id]: 'yes' } })
      runs.add(runId)
    }
  } catch (error) {
    // What is refused changes nothing.
    if (!(error instanceof RunError)) throw error
  }
}

async function atRest(engine: AgentEngine, threadId: string): Promise<ThreadRecord | undefined> {
  for (let looks = 0; looks < 2_000; looks++) {
    const thread = await engine.findThread({ threadId })
    if (!thread || (thread.activeRunId === null && thread.queue.length === 0)) return thread
    await sleep(5)
  }
  throw new Error(`${threadId} does not come to rest.`)
}

async function expectOneEnd(
  engine: AgentEngine,
  threadId: string,
  runId: string,
  log: readonly LoggedEvent[],
): Promise<void> {
  const record = await engine.getRun({ threadId, runId })
  const states = rootStates(log.filter((event) => event.runId === runId))
  const begun = states.filter((state) => state === 'running')
  const ends = states.filter((state) => state !== 'running')
  expect([begun.length, ends.length]).toEqual(record!.startedAt === null ? [0, 0] : [1, 1])
  if (ends.length === 0) return
  const ended = { success: 'completed', error: 'failed', interrupted: 'interrupted' } as const
  expect(ends).toEqual([ended[record!.status as keyof typeof ended]])
  const answer = await engine.findAnswer({ threadId, answerId: runId })
  expect(answer!.record.openRunIds).toEqual([])
}

const rootStates = (log: readonly LoggedEvent[]): readonly string[] =>
  log.flatMap((event) =>
    event.method === 'lifecycle' && event.namespace.length === 0 ? [event.data.event] : [],
  )

/** Each run that has completed has its reply in the state, once, in the order in which they ended. */
async function expectTurns(
  engine: AgentEngine,
  thread: ThreadRecord,
  log: readonly LoggedEvent[],
): Promise<void> {
  const state = await engine.readState(thread)
  const { messages = [] } = (state?.values ?? {}) as {
    readonly messages?: readonly { readonly content: string }[]
  }
  const replies = messages.map(({ content }) => content).filter((content) => content.startsWith('re '))
  expect(new Set(replies).size).toBe(replies.length)
  const completed = rootStates(log).filter((state) => state === 'completed')
  expect(replies.length).toBeGreaterThanOrEqual(completed.length)
  expect(thread.status === 'interrupted').toBe(thread.interrupts.length > 0)
}
