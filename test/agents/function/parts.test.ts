import { coerceMessageLikeToMessage } from '@langchain/core/messages'
import { messagesStateReducer } from '@langchain/langgraph'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { uuid6 } from '../../../src/agents/checkpoint-config.ts'
import { createCheckpointChain, loadCheckpoint } from '../../../src/agents/function/checkpoints.ts'
import { derivedId } from '../../../src/agents/function/journal/journal.ts'
import { insertAnswer, messagesOf, reduce, type State } from '../../../src/agents/function/state.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'

const UUID6 = /^[0-9a-f]{8}-[0-9a-f]{4}-6[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('checkpoint ids are rising UUIDs of version 6', () => {
  const ids = Array.from({ length: 5_000 }, () => uuid6())
  for (const id of ids) expect(id).toMatch(UUID6)
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

test('an id is greater than the one before it, even one from a machine whose clock is ahead', () => {
  const ahead = '2fffffff-ffff-6fff-8000-000000000000'
  const next = uuid6(ahead)
  expect(next > ahead).toBe(true)
  expect(uuid6(next) > next).toBe(true)
  expect(uuid6() < ahead).toBe(true)
  expect(uuid6('not a uuid')).toMatch(UUID6)
})

test('a derived id is the same for the same path, and different for every other path', () => {
  const seed = uuid6()
  const paths = Array.from({ length: 50_000 }, (_, at) => `s${at % 7}/t${Math.floor(at / 7)}/m${at}`)
  const ids = paths.map((path) => derivedId(seed, path))
  expect(new Set(ids).size).toBe(paths.length)
  for (const id of ids.slice(0, 1_000)) expect(id).toMatch(UUID6)
  expect(derivedId(seed, 'm0')).toBe(derivedId(seed, 'm0'))
  expect(derivedId(seed, 'm0')).not.toBe(derivedId(uuid6(), 'm0'))
})

const ids = fc.constantFrom('a', 'b', 'c', 'd')
const message = fc.record({ type: fc.constantFrom('human', 'ai', 'system'), id: ids, content: fc.string() })
const removeAll = { type: 'remove', id: '__remove_all__', content: '' }
const change = fc.oneof(
  { weight: 4, arbitrary: message },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('remove'), id: ids, content: fc.constant('') }) },
)

/** After the removal of all, messages have unique ids here, because LangGraph does not merge duplicates there. */
const update = fc.oneof(
  fc.array(change, { maxLength: 12 }),
  fc.uniqueArray(message, { maxLength: 4, selector: ({ id }) => id }).map((list) => [removeAll, ...list]),
)

test('messages are merged as LangGraph merges them', () => {
  fc.assert(
    fc.property(fc.array(update, { maxLength: 5 }), (updates) => {
      let ours: State = {}
      let theirs: ReturnType<typeof messagesStateReducer> = []
      for (const update of updates) {
        try {
          theirs = messagesStateReducer(
            theirs,
            update.map((one) => coerceMessageLikeToMessage(one as never)),
          )
        } catch (error) {
          // LangGraph refuses to remove an unknown message. Ours allows it, because a function that runs again removes it twice.
          expect(String(error)).toContain('Attempting to delete')
          return
        }
        ours = reduce(ours, { messages: update }, () => 'made')
      }
      expect(messagesOf(ours).map(({ type, id, content }) => [type, id, content])).toEqual(
        theirs.map((message) => [message.getType(), message.id, message.content]),
      )
    }),
  )
})

test('reducing never changes the given state', () => {
  fc.assert(
    fc.property(fc.array(change), fc.array(change), (before, after) => {
      const state = reduce({}, { messages: before, n: { deep: [1] } }, () => 'made')
      const copy = JSON.stringify(state)
      reduce(state, { messages: after, n: 2 }, () => 'made')
      expect(JSON.stringify(state)).toBe(copy)
      expect(Object.isFrozen((state.n as { deep: unknown }).deep)).toBe(true)
    }),
  )
})

test('an answer without a known call goes to the end, and a second answer with its id replaces it', () => {
  const state = reduce({}, { messages: ['hi'] }, () => 'h')
  const answer = { type: 'tool', id: 't', tool_call_id: 'unknown', content: 'one' }
  const once = insertAnswer(state, answer)
  expect(messagesOf(once).map(({ id }) => id)).toEqual(['h', 't'])
  const twice = insertAnswer(once, { ...answer, content: 'two' })
  expect(messagesOf(twice).map(({ content }) => content)).toEqual(['hi', 'two'])
})

test('two branches of a thread never share a channel version, so every checkpoint keeps its values', async () => {
  const thread = { checkpointer: memoryCheckpointer(), threadId: 't' }
  const loadAt = (checkpointId: string) => loadCheckpoint({ ...thread, checkpointId })
  const written = new Map<string, unknown>()
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.nat()),
      async (at, channels) => {
        const known = [...written.keys()]
        const base = known.length > 0 ? await loadAt(known[at % known.length]!) : undefined
        const { id } = await createCheckpointChain(thread, base).put({ ...channels }, { source: 'loop' })
        written.set(id, { ...channels })
        for (const [earlier, values] of written) expect((await loadAt(earlier))?.channels).toEqual(values)
      },
    ),
    { numRuns: 60 },
  )
  const versions = [...written.keys()].map(
    async (id) => (await loadAt(id))!.tuple.checkpoint.channel_versions,
  )
  const byVersion = new Map<string, unknown>()
  for (const [at, one] of (await Promise.all(versions)).entries()) {
    const values = [...written.values()][at] as Record<string, unknown>
    for (const [channel, version] of Object.entries(one)) {
      const key = `${channel}@${version}`
      expect(byVersion.get(key) ?? values[channel]).toEqual(values[channel])
      byVersion.set(key, values[channel])
    }
  }
})
