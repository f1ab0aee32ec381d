import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Target } from '../../../src/formats/index.ts'
import * as formats from '../../../src/formats/index.ts'
import type { Message } from '../../../src/messages/index.ts'
import { frozen } from '../helpers.ts'
import { histories, PROOFS, read } from './histories.ts'
import {
  anthropicRefusals,
  bedrockConverseRefusals,
  cohereRefusals,
  geminiRefusals,
  ollamaRefusals,
  openaiChatRefusals,
  openaiResponsesRefusals,
} from './index.ts'
import { lostOf } from './lost.ts'
import { thread } from './threads.ts'

/** More threads where time is: `FORMAT_RUNS` and CI. */
const RUNS = Number(process.env.FORMAT_RUNS ?? (process.env.CI ? 2000 : 300))

/** Whether a server of OpenAI's shape gave thoughts under a name of its own, which it gets back. */
const hasServerThoughts = (messages: readonly Message[]) =>
  messages.some(({ content }) => content.some(({ type }) => type === 'reasoning'))

type Row = readonly [
  name: string,
  refusals: (request: unknown, messages: readonly Message[]) => string[],
  proof?: string,
]

const rows: readonly Row[] = [
  ['anthropic', anthropicRefusals, PROOFS.anthropic],
  [
    'completions',
    (request, messages) => openaiChatRefusals(request, { thoughts: hasServerThoughts(messages) }),
  ],
  ['responses', openaiResponsesRefusals, PROOFS.openaiResponses],
  ['gemini', geminiRefusals, PROOFS.gemini],
  ['bedrockConverse', bedrockConverseRefusals, PROOFS.bedrockConverse],
  ['ollama', ollamaRefusals],
  ['cohere', cohereRefusals],
]

const targets = new Map(
  Object.values(formats)
    .filter((value): value is Target => typeof value === 'object' && 'writeRequest' in value)
    .map((target) => [target.name, target]),
)

/** What is wrong with the request that a target writes: refused by the API, or without something. */
function faultsOf(target: Target, [, refusals, proof]: Row, messages: readonly Message[]): string[] {
  const request = target.writeRequest(frozen(messages))
  return [
    ...refusals(request, messages).map((sentence) => `refused: ${sentence}`),
    ...lostOf(messages, request, proof).map((what) => `lost: ${what}`),
  ]
}

describe.each(rows.filter(([name]) => targets.has(name)))('%s', (...row) => {
  const target = targets.get(row[0])!

  test.each(histories.map((history) => [history[0], history] as const))(
    'takes a conversation that %s began',
    (_, history) => {
      expect(faultsOf(target, row, read(history))).toEqual([])
    },
  )

  test('takes any thread, and nothing that matters is lost', () => {
    fc.assert(
      fc.property(thread, (messages) => {
        expect(faultsOf(target, row, messages)).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })
})
