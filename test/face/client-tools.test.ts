import { expect, test } from 'vitest'
import { createPendingCalls, withClientTools } from '../../src/faces/kit/client-tools.ts'

const weather = {
  type: 'function',
  function: { name: 'get_weather', description: 'The weather.', parameters: { type: 'object' } },
} as const

test('an agent finds the tools of its client in its config, and nothing that the client has set there', () => {
  const config = { configurable: { client_tools: 'mine', model: 'small' } }
  expect(withClientTools(config, [weather]).configurable).toEqual({ model: 'small', client_tools: [weather] })
  expect(withClientTools(config, []).configurable).toEqual({ model: 'small' })
})

test('a client answers the calls of its tools that have no result', () => {
  const pending = createPendingCalls([weather])
  const call = (id: string, name = 'get_weather', owner: string | null = null) => ({ id, name, owner })
  for (const one of [
    call('own'),
    call('run'),
    call('lost'),
    call('other', 'add'),
    call('inner', 'get_weather', 'task'),
  ])
    pending.push({ type: 'callStart', call: one })
  pending.push({ type: 'callResult', call: call('run') })
  pending.push({ type: 'retract', calls: ['lost'] })
  expect(pending.ids()).toEqual(['own'])
})
