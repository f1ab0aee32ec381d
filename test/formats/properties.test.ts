import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isMessage, type Usage } from '../../src/messages/index.ts'
import { garbage, RUNS } from './arbitraries.ts'
import { formats } from './examples.ts'
import { frozen, streamed, viaJson, whole } from './helpers.ts'

/** Checks the guarantees of `Usage`. */
function checkUsage({
  inputTokens,
  outputTokens,
  totalTokens,
  inputDetails = {},
  outputDetails = {},
}: Usage): void {
  expect(inputTokens + outputTokens).toBe(totalTokens)
  for (const [total, details] of [
    [inputTokens, inputDetails],
    [outputTokens, outputDetails],
  ] as const) {
    const values = Object.values(details)
    expect(total).toBeGreaterThanOrEqual(0)
    expect(values.every((value) => value > 0)).toBe(true)
    expect(values.reduce((sum, value) => sum + value, 0)).toBeLessThanOrEqual(total + 1e-9)
  }
}

const WHOLE_CHUNKS = ['gemini', 'ollama', 'generic']

/** Lists of any JSON values, as they come over the wire. */
const anything = fc
  .array(fc.oneof(garbage, fc.jsonValue({ maxDepth: 2 })), { maxLength: 6 })
  .map((values) => viaJson(values) as unknown[])

describe.each(formats)('%s', (name, format, examples) => {
  /** The kinds as which chunks are detected. Some formats have chunks with the shape of a response. */
  const alike = WHOLE_CHUNKS.includes(name) ? ['response'] : []

  test('a stream accumulates to the whole response, however it is cut', () => {
    fc.assert(
      fc.property(examples, ({ response, chunks }) => {
        expect(streamed(format, chunks)).toEqual(whole(format, response))
      }),
      { numRuns: RUNS },
    )
  })

  test('usage is a partition', () => {
    fc.assert(
      fc.property(examples, ({ response }) => {
        for (const { usage } of whole(format, response).messages) if (usage) checkUsage(usage)
      }),
      { numRuns: RUNS },
    )
  })

  test('reading twice gives the same plain JSON', () => {
    fc.assert(
      fc.property(examples, ({ response }) => {
        const plain = viaJson(response)
        const read = whole(format, plain)
        expect(whole(format, plain)).toEqual(read)
        expect(viaJson(read)).toEqual(read)
      }),
      { numRuns: RUNS },
    )
  })

  test('unknown fields are kept', () => {
    fc.assert(
      fc.property(examples, ({ response, chunks }) => {
        const marks = JSON.stringify(response).match(/mark-\w+-\d+/g) ?? []
        const [read, put] = [
          JSON.stringify(whole(format, response)),
          JSON.stringify(streamed(format, chunks)),
        ]
        for (const mark of marks) {
          expect(read).toContain(`"${mark}"`)
          expect(put).toContain(`"${mark}"`)
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('detects its own shapes', () => {
    fc.assert(
      fc.property(examples, ({ response, chunks }) => {
        expect(format.detect(frozen(response))).toBe('response')
        for (const chunk of chunks) expect(['chunk', ...alike]).toContain(format.detect(frozen(chunk)))
      }),
      { numRuns: RUNS / 2 },
    )
  })

  test('no value makes it throw, and it changes none', () => {
    fc.assert(
      fc.property(anything, (values) => {
        for (const value of frozen(values)) {
          format.detect(value)
          const { messages } = whole(format, value)
          expect(
            [...messages, ...format.readRequest(value).messages].filter((message) => !isMessage(message)),
          ).toEqual([])
          for (const { usage } of messages) if (usage) checkUsage(usage)
        }
        const { messages } = streamed(format, values)
        expect(messages.filter((message) => !isMessage(message))).toEqual([])
        expect(viaJson(messages)).toEqual(messages)
      }),
      { numRuns: RUNS * 3 },
    )
  })
})
