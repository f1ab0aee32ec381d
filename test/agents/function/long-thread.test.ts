import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import { stateToJson } from '../../../src/agents/immutable-json.ts'
import { rememberRecent } from '../../../src/agents/recent.ts'
import type { Message } from '../../../src/messages/index.ts'
import {
  asImmutable,
  canReuseTuple,
  isImmutable,
  readOnly,
} from '../../../src/storage/checkpointer/config.ts'
import { memoryCheckpointer } from '../../../src/storage/memory/checkpointer.ts'
import { describeStores } from '../../kit/stores.ts'
import { input, newThread, run, stateOf } from '../run.ts'

const say = (content: string) => input({ messages: [{ role: 'user', content }] })

function expectFrozen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  expect(Object.isFrozen(value)).toBe(true)
  for (const inner of Object.values(value)) expectFrozen(inner)
}

/** Writes everything that a state can have. */
const busy = defineAgent({
  async run({ message, artifact, tool, step, setState, state, messages }) {
    await message('hello', { id: 'm1' })
    await tool('look', { at: { a: ['thing'] } }, () => ({ found: [{ deep: true }] }))
    await step(() => ({ list: [1, { two: 2 }] }))
    await artifact([{ type: 'text', text: 'a report' }], { name: 'report' })
    await setState({ notes: [{ n: messages.length }], before: state })
    await message('bye')
    return { last: { of: ['all'] } }
  },
})

test('a saver in memory keeps the messages of a function as they are, and each turn adds its own', async () => {
  const seen: (readonly Message[])[] = []
  const echo = defineAgent({
    async run({ messages, message }) {
      seen.push(messages)
      await message('yes')
    },
  })
  const at = newThread()
  const config = readOnly({ configurable: { thread_id: at.threadId, checkpoint_ns: '' } })
  const kept = async () =>
    (await at.checkpointer.getTuple(config))!.checkpoint.channel_values.messages as readonly unknown[]
  await run(echo, at, say('a'))
  const first = await kept()
  await run(echo, at, say('b'))
  const second = await kept()
  expect(second).toHaveLength(4)
  for (const [place, message] of first.entries()) expect(second[place]).toBe(message)
  expect(await kept()).toBe(second)
  // Nor are they decoded again.
  expect(seen.map(({ length }) => length)).toEqual([1, 3])
  expect(seen[1]![0]).toBe(seen[0]![0])
  expectFrozen(seen[1]![0])
})

test('what a saver in memory shares with readers is plain JSON and frozen at every depth', async () => {
  const at = newThread()
  await run(busy, at, say('a'))
  await run(busy, at, say('b'))
  let shared = 0
  for await (const { config } of at.checkpointer.list({ configurable: { thread_id: at.threadId } })) {
    const tuple = await at.checkpointer.getTuple(readOnly(config))
    for (const value of Object.values(tuple!.checkpoint.channel_values)) {
      if (!isImmutable(value)) continue
      shared++
      expectFrozen(value)
      expect(JSON.parse(JSON.stringify(value))).toEqual(value)
    }
  }
  expect(shared).toBeGreaterThan(20)
})

test('those who have not said that they only read get copies that they may change', async () => {
  const at = newThread()
  await run(busy, at, say('a'))
  const before = JSON.stringify((await stateOf(busy, at)).values)
  const config = { configurable: { thread_id: at.threadId, checkpoint_ns: '' } }
  const values = (await at.checkpointer.getTuple(config))!.checkpoint.channel_values as Record<
    string,
    unknown[]
  >
  ;(values.messages![0] as { content: string }).content = 'changed'
  values.messages!.length = 1
  for await (const { checkpoint } of at.checkpointer.list(config))
    checkpoint.channel_values.last = Object.assign(Object(checkpoint.channel_values.last), { of: [] })
  expect(JSON.stringify((await stateOf(busy, at)).values)).toBe(before)
})

describeStores('over $name', ({ create }) => {
  test('a state after many turns is that of the turns', async () => {
    const { checkpointer } = await (await create())()
    const agent = defineAgent({
      async run({ messages, message }) {
        await message(`${messages.length}`)
        return messages.length === 5 ? { messages: [{ type: 'remove', id: messages[0]!.id }] } : undefined
      },
    })
    const at = newThread(checkpointer)
    for (let turn = 0; turn < 12; turn++) await run(agent, at, say(`turn ${turn}`))
    const { messages } = (await stateOf(agent, at)).values as { messages: { content: string }[] }
    const said = Array.from({ length: 12 }, (_, turn) => [`turn ${turn}`, `${turn * 2 + (turn < 3 ? 1 : 0)}`])
    expect(messages.map(({ content }) => content)).toEqual(said.flat().slice(1))
  })
})

test('the text of a state is that of JSON.stringify, of lists that are immutable as of others', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()), (state, list) => {
      const frozen = (value: unknown): unknown => {
        if (typeof value !== 'object' || value === null) return value
        for (const inner of Object.values(value)) frozen(inner)
        return Object.freeze(value)
      }
      const whole = { ...state, gone: undefined, list: asImmutable(frozen(list) as object) }
      expect(stateToJson(whole)).toBe(JSON.stringify(whole))
      expect(stateToJson(whole)).toBe(JSON.stringify(whole))
      expect(stateToJson(state)).toBe(JSON.stringify(state))
    }),
  )
  expect(stateToJson(undefined)).toBeUndefined()
  expect(stateToJson([1])).toBe('[1]')
})

test('what was made of objects is remembered for those that were used lately', () => {
  const made: number[] = []
  const remember = rememberRecent<{ readonly n: number }, string>(10, ({ length }) => length)
  const objects = Array.from({ length: 30 }, (_, n) => ({ n }))
  const textOf = (at: number) =>
    remember(objects[at]!, ({ n }) => {
      made.push(n)
      return `${n}`.padStart(2)
    })
  for (let at = 0; at < 30; at++) {
    expect(textOf(at)).toBe(`${at}`.padStart(2))
    // It is used all the time.
    expect(textOf(0)).toBe(' 0')
  }
  expect(made).toEqual(objects.map(({ n }) => n))
  textOf(29)
  textOf(28)
  expect(made).toHaveLength(30)
  textOf(1)
  expect(made).toHaveLength(31)
})

test('a state that has come as a copy shares what it has in common with the state before', async () => {
  const inner = memoryCheckpointer()
  const at = newThread({ ...inner, getTuple: ({ configurable }) => inner.getTuple({ configurable }) })
  for (const said of ['a', 'b', 'c']) await run(busy, at, say(said))
  const config = readOnly({ configurable: { thread_id: at.threadId, checkpoint_ns: '' } })
  const lists: unknown[][] = []
  for await (const { config } of inner.list({ configurable: { thread_id: at.threadId } })) {
    const { messages } = (await inner.getTuple(readOnly(config)))!.checkpoint.channel_values
    if (messages) lists.unshift(messages as unknown[])
  }
  expect(lists.length).toBeGreaterThan(6)
  for (const [at, list] of lists.slice(1).entries())
    for (const [place, message] of lists[at]!.entries()) expect(list[place]).toBe(message)
  expect(isImmutable((await inner.getTuple(config))!.checkpoint.channel_values.messages)).toBe(true)
})

test('what was read without copies is given to nobody who may change it', async () => {
  const at = newThread()
  const config = { configurable: { thread_id: at.threadId, checkpoint_ns: '' } }
  await run(busy, at, say('a'))
  const shared = await at.checkpointer.getTuple(readOnly(config))
  expect(canReuseTuple(readOnly(config), shared)).toBe(true)
  expect(canReuseTuple(config, shared)).toBe(false)
  expect(canReuseTuple(config, await at.checkpointer.getTuple(config))).toBe(true)
  expect(canReuseTuple(config, undefined)).toBe(true)
})
