import { expect, test, vi } from 'vitest'
import { createGate } from '../../../src/storage/coordination/gate.ts'

test('a gate without calls under way closes at once, and refuses further ones', async () => {
  const gate = createGate()
  gate.assertOpen()
  expect(gate.isClosed()).toBe(false)
  await gate.close()
  expect(gate.isClosed()).toBe(true)
  expect(() => gate.assertOpen()).toThrow(/closed/i)
})

test('a gate closes behind all calls that are under way', async () => {
  const gate = createGate()
  const onClosed = vi.fn()
  gate.enter()
  gate.leave()
  gate.enter()
  gate.enter()
  const closing = gate.close().then(onClosed)
  expect(() => gate.assertOpen()).toThrow(/closed/i)
  gate.leave()
  await new Promise(setImmediate)
  expect(onClosed).not.toHaveBeenCalled()
  gate.leave()
  await closing
  expect(onClosed).toHaveBeenCalledOnce()
})
