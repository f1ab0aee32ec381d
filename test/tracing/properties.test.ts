import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Format } from '../../src/models/formats/index.ts'
import { convertModelCall, type ModelCallRecord, observeModelStream } from '../../src/models/tracing/index.ts'
import { formats } from '../formats/examples.ts'
import { frozen, viaJson } from '../formats/helpers.ts'
import { runs } from '../kit/runs.ts'

const RUNS = runs(100)

/** Reads a stream to its end and returns its record. */
async function recordOf(format: Format | undefined, chunks: readonly unknown[]): Promise<ModelCallRecord> {
  let record: ModelCallRecord | undefined
  const onEnd = (ended: ModelCallRecord) => (record = ended)
  const source = (async function* () {
    yield* chunks
  })()
  const stream = observeModelStream(source, { format, onEnd })
  let at = 0
  for await (const chunk of stream) expect(chunk).toBe(chunks[at++])
  expect(at).toBe(chunks.length)
  return record!
}

describe.each(formats)('%s', (_, format, examples) => {
  test('a stream makes the record of the whole response, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(examples, async ({ response, chunks }) => {
        const whole = convertModelCall({ response: frozen(response), format })
        const { events, ...streamed } = await recordOf(format, frozen(chunks))
        expect({ ...streamed, events: [] }).toEqual(whole)
        expect(events.filter(({ name }) => name === 'new_token')).toHaveLength(events.length)
        expect(events.length).toBeLessThanOrEqual(1)
      }),
      { numRuns: RUNS },
    )
  })

  test('the format of a stream is detected by its chunks', async () => {
    await fc.assert(
      fc.asyncProperty(examples, async ({ response, chunks }) => {
        const { outputs } = await recordOf(undefined, frozen(chunks))
        expect(outputs).toEqual(convertModelCall({ response: frozen(response), format }).outputs)
      }),
      { numRuns: RUNS },
    )
  })

  test('the record is plain JSON, the same each time, and its usage adds up', () => {
    fc.assert(
      fc.property(examples, ({ response }) => {
        const plain = frozen(viaJson(response))
        const record = convertModelCall({ request: plain, response: plain, format })
        expect(viaJson(record)).toEqual(record)
        expect(convertModelCall({ request: plain, response: plain, format })).toEqual(record)
        checkUsage(record.metadata.usage_metadata as WireUsage | undefined)
      }),
      { numRuns: RUNS },
    )
  })
})

test('any value makes a record', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (request, response) => {
      const { outputs, metadata } = convertModelCall({ request: frozen(request), response: frozen(response) })
      expect(Object.keys(outputs).length).toBeGreaterThan(0)
      checkUsage(metadata.usage_metadata as WireUsage | undefined)
    }),
    { numRuns: RUNS * 5 },
  )
})

interface WireUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  readonly input_token_details?: Readonly<Record<string, number>>
  readonly output_token_details?: Readonly<Record<string, number>>
}

function checkUsage(usage: WireUsage | undefined): void {
  if (!usage) return
  const { input_tokens, output_tokens, total_tokens } = usage
  expect(input_tokens + output_tokens).toBe(total_tokens)
  for (const [total, details = {}] of [
    [input_tokens, usage.input_token_details],
    [output_tokens, usage.output_token_details],
  ] as const) {
    const counts = Object.values(details)
    expect(counts.every((count) => count > 0)).toBe(true)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(total + 1e-9)
  }
}
