import { expect, onTestFinished, test } from 'vitest'
import { createLogs } from '../../../src/control-plane/logs/create-logs.ts'
import type { LogPlace } from '../../../src/control-plane/logs/logs.ts'
import { maskSecrets } from '../../../src/control-plane/secrets/mask.ts'
import { createLineLog } from '../../../src/control-plane/worker/context.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'

const PLACE: LogPlace = { type: 'build', deploymentId: 'd1', revisionId: 'r1' }
const RUN = '0198f3a0-0000-7000-8000-000000000001'

test('secrets are hidden before a line is kept, also where they end beyond the cut', async () => {
  const logs = createLogs({ store: memoryStore(), limits: { maxLineLength: 12 } })
  onTestFinished(() => logs.close())
  const log = createLineLog(logs, PLACE, {
    revisionId: 'r1',
    mask: maskSecrets(['top secret value', 'two\nlined']),
    now: () => 5,
  })
  log('123456 top secret value')
  log('first two\nlined last\r\n\r\nthird\n', 'ERROR')
  log(`{"run_id":"${RUN}"}`, 'DEBUG')
  log('')
  await logs.flush()
  const { lines } = await logs.read(PLACE, { order: 'asc', limit: 10 })
  expect(lines.map(({ message, level }) => [message, level])).toEqual([
    ['123456 ***', 'INFO'],
    ['first *** la… (2 more characters were cut)', 'ERROR'],
    ['', 'ERROR'],
    ['third', 'ERROR'],
    [expect.stringContaining('{"run_id":"0… ('), 'DEBUG'],
    ['', 'INFO'],
  ])
  expect(lines.map(({ runId }) => runId)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    RUN,
    undefined,
  ])
  expect(lines[0]).toEqual({ id: '1', at: 5, level: 'INFO', message: '123456 ***', revisionId: 'r1' })
})
