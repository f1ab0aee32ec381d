import { expect, test } from 'vitest'
import { noteFailures } from '../../../../src/engine/execution/saver/run-saver.ts'
import type { Checkpointer } from '../../../../src/storage/checkpointer/checkpointer.ts'
import { hooked } from '../../../../src/storage/checkpointer/hooks.ts'

const fault = new Error('The disk is full.')
const METHODS = [
  'get',
  'getTuple',
  'put',
  'putWrites',
  'deleteThread',
  'keepLatest',
  'getDeltaChannelHistory',
] as const

/** A saver each of whose methods does `work`, as an attempt sees it. */
function watched(work: (...args: unknown[]) => unknown) {
  const methods = [...METHODS, 'list'].map((name) => [name, work])
  const health = { failed: false, unavailable: false }
  const saver = hooked(Object.fromEntries(methods) as Checkpointer, [noteFailures(health)])
  return { health, saver: saver as unknown as Record<string, (...args: unknown[]) => unknown> }
}

test.each(METHODS)('%s gives what the saver gives, and notes that it has failed', async (name) => {
  const working = watched(async (...args) => args.length)
  expect(await working.saver[name]!({}, [], 'task')).toBe(3)
  expect(working.health).toEqual({ failed: false, unavailable: false })
  const rejecting = watched(() => Promise.reject(fault))
  await expect(rejecting.saver[name]!({}, [], 'task')).rejects.toBe(fault)
  expect(rejecting.health).toEqual({ failed: true, unavailable: false })
  const throwing = watched(() => {
    throw fault
  })
  expect(() => throwing.saver[name]!({}, [], 'task')).toThrow(fault)
  expect(throwing.health).toEqual({ failed: true, unavailable: false })
})

test('a list is read through, and a failure in the midst of it is noted', async () => {
  let fails = false
  const { saver, health } = watched(async function* () {
    yield 1
    if (fails) throw fault
    yield 2
  })
  const read = async () => {
    const seen: unknown[] = []
    try {
      for await (const one of saver.list!({}) as AsyncIterable<unknown>) seen.push(one)
    } catch (error) {
      seen.push(error)
    }
    return seen
  }
  expect(await read()).toEqual([1, 2])
  expect(health.failed).toBe(false)
  fails = true
  expect(await read()).toEqual([1, fault])
  expect(health.failed).toBe(true)
})

test('the error of a task is written as it is until the storage has failed, and then without its text', async () => {
  const written: unknown[] = []
  const { saver, health } = watched(async (_, writes) => written.push(writes))
  const writes = [
    ['__error__', 'secret'],
    ['notes', 'told'],
  ]
  await saver.putWrites!({}, writes, 'task')
  health.failed = true
  await saver.putWrites!({}, writes, 'task')
  expect(written[0]).toEqual(writes)
  expect(JSON.stringify(written[1])).not.toContain('secret')
  expect(written[1]).toEqual([['__error__', expect.anything()], writes[1]])
})
