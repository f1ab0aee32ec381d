import { expect, onTestFinished, test } from 'vitest'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import { hooked, onCalls, overlay } from '../../src/storage/checkpointer/hooks.ts'
import { UnavailableError } from '../../src/storage/errors.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { chat } from '../fixtures/graphs.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import { isTerminal, rootStates } from '../kit/events.ts'
import { SHARED } from '../kit/shared.ts'
import { eventually, gate } from '../kit/wait.ts'

/** Calls are retried for this long, so an absence outlasts them soon. */
const LEASE_MS = 100

type Part = 'saver' | 'log' | 'both'

/** A place whose saver, whose log or both are away from the agent's first write until they are told to return. */
function absent(place: { readonly store: Store; readonly checkpointer: Checkpointer }, part: Part) {
  let away = true
  let refused = 0
  const refuse = () => {
    refused++
    throw new UnavailableError('away', { written: 'no' })
  }
  const writes = onCalls(['put', 'putWrites'], async (call) => (away && part !== 'log' ? refuse() : call()))
  // Such a view would write past these.
  const checkpointer = overlay(hooked(place.checkpointer, [writes]), () => ({
    withFence: undefined as never,
  }))
  const store: Store = {
    ...place.store,
    commit: async (partition, change) => {
      const begins = change.ops.some(({ op }) => op === 'claim')
      const isOfRun = change.ops.some(({ op }) => op === 'append' || op === 'release')
      return away && part !== 'saver' && isOfRun && !begins ? refuse() : place.store.commit(partition, change)
    },
  }
  return { storage: { store, checkpointer }, refused: () => refused, comeBack: () => void (away = false) }
}

function scene(agent: Parameters<typeof engineOf>[0][string], shared: (typeof SHARED)['memory'], part: Part) {
  const place = absent(shared()(), part)
  const reported: unknown[] = []
  const engine = engineOf(
    { a: agent },
    { ...place.storage, leaseTtlMs: LEASE_MS, onError: (error) => reported.push(error) },
  )
  onTestFinished(() => engine.close())
  return { engine, place, reported }
}

const input = { messages: [{ type: 'human', content: 'Q', id: 'h1' }] }

for (const [name, shared] of Object.entries(SHARED)) {
  test.each<Part>(['saver', 'log', 'both'])(
    `over ${name}, a run that outlasts the retries while its %s is away is continued, and does not fail`,
    async (part) => {
      const { engine, place, reported } = scene(langgraph(chat()), shared, part)
      const { runId } = await start(engine, 't', input)
      // The first attempt was given up.
      await eventually(() => reported.length > 0)
      place.comeBack()
      expect(await engine.wait({ threadId: 't', runId })).toMatchObject({ status: 'success', error: null })
      expect(rootStates(await transcript(engine, 't'))).toEqual(['running', 'completed'])
      const thread = (await engine.findThread({ threadId: 't' }))!
      expect((await engine.readState(thread))!.values).toMatchObject({
        messages: [{ type: 'human' }, { type: 'ai' }],
      })
    },
  )
}

test('the run of an agent that cannot be continued is given up, and its client is told to send again', async () => {
  const { opened, open } = gate()
  const agent = defineAgent({
    async run({ message }) {
      await message('Half')
      await opened
    },
  })
  const { engine, place, reported } = scene(agent, SHARED.memory, 'both')
  const { runId } = await start(engine, 't', input)
  open()
  await eventually(() => reported.length > 0)
  place.comeBack()
  expect(await engine.wait({ threadId: 't', runId })).toMatchObject({
    status: 'error',
    error: expect.stringContaining('Send your message again'),
  })
  expect((await transcript(engine, 't')).filter(isTerminal)).toHaveLength(1)
})

test('a saver that never returns fails the run in the end, with an error id', async () => {
  const { engine, place } = scene(langgraph(chat()), SHARED.memory, 'saver')
  const { runId } = await start(engine, 't', input)
  const { status, error } = await engine.wait({ threadId: 't', runId })
  expect(status).toBe('error')
  expect(error).toMatch(/Error id/)
  expect(place.refused()).toBeGreaterThan(10)
})
