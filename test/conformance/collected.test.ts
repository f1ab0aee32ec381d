import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { bundleOf } from '../kit/bundle.ts'
import { targets } from './targets/index.ts'

test('a signal survives the garbage collection of its request, through every adapter', async () => {
  const child = fork(await bundleOf('test/conformance/collected.ts'), {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [results] = await once(child, 'message', { signal: AbortSignal.timeout(200_000) })
  const {
    'naive adapter.abort.collected': naive,
    'naive adapter.abort.not-early': early,
    ...others
  } = results
  const names = targets.filter(({ can }) => can.includes('signal')).map(({ name }) => name)
  expect(others).toEqual(
    Object.fromEntries(names.map((name) => [`${name} adapter.abort.collected`, 'passed'])),
  )
  // A bridge that does not keep the request loses its signal, and the audit sees that.
  expect(naive).toMatch(/^AuditError: the signal/)
  // Nor does garbage collection hide that a bridge's signal fires early.
  expect(early).toMatch(/^AuditError: the signal/)
})
