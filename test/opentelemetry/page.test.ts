import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENTS } from './events.ts'
import { recorder } from './telemetry.ts'

const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8')
const missing = (names: Iterable<string>) => [...names].filter((name) => !page.includes(`\`${name}\``))

test('docs/operating.md names every event with its fields', () => {
  expect(missing(Object.keys(EVENTS))).toEqual([])
  expect(missing(new Set(Object.values(EVENTS).flatMap((event) => Object.keys(event))))).toEqual([])
  expect(missing(Object.keys(EVENTS['run.model_called'].call))).toEqual([])
})

test('docs/operating.md names every metric, and every attribute of metrics and spans', async () => {
  const { telemetry, observe, spans, collect } = recorder()
  telemetry.watch({ measure: async () => ({ running: 0, queued: 0, subscribers: 0, lag: 0 }) })
  for (const event of Object.values(EVENTS)) observe(event)
  const metrics = await collect()
  const attributes = [...[...metrics.values()].flat(), ...spans()].flatMap((one) =>
    Object.keys(one.attributes),
  )
  expect(metrics.size).toBeGreaterThan(14)
  expect(missing(metrics.keys())).toEqual([])
  expect(missing(new Set(attributes))).toEqual([])
})
