import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('a signal survives the garbage collection of its request, through every adapter', async () => {
  const script = fileURLToPath(new URL('./collected.ts', import.meta.url))
  const child = fork(script, {
    execArgv: ['--expose-gc', '--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [results] = await once(child, 'message', { signal: AbortSignal.timeout(60_000) })
  const names = [
    'node-http',
    'node-http2',
    'express4',
    'express4-json',
    'express5',
    'express5-json',
    'express5-compression',
  ]
  const all = [...names, 'fastify', 'fastify-cors', 'hono-node']
  expect(results).toEqual(
    Object.fromEntries(all.map((name) => [`${name} adapter.abort.collected`, 'passed'])),
  )
}, 60_000)
