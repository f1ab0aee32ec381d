import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Target } from '../../../src/formats/index.ts'
import * as formats from '../../../src/formats/index.ts'
import type { Message } from '../../../src/messages/index.ts'
import { frozen } from '../helpers.ts'
import { aiSdkRefusals, SENDERS, sentBy } from './ai-sdk.ts'
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
import { isServerThought, thread } from './threads.ts'

/** More threads where time is: in CI, or as `FORMAT_RUNS` says. */
const RUNS = Number(process.env.FORMAT_RUNS ?? (process.env.CI ? 2000 : 300))

interface Row {
  readonly name: string
  /** What the API says to the request. */
  readonly refusals: (request: unknown, messages: readonly Message[]) => string[] | Promise<string[]>
  /** How the proofs of thoughts start that this API gives. */
  readonly proof?: string
}

const rows: readonly Row[] = [
  { name: 'anthropic', refusals: anthropicRefusals, proof: PROOFS.anthropic },
  { name: 'completions', refusals: chatRefusals },
  { name: 'responses', refusals: openaiResponsesRefusals, proof: PROOFS.openaiResponses },
  { name: 'gemini', refusals: geminiRefusals, proof: PROOFS.gemini },
  { name: 'bedrockConverse', refusals: bedrockConverseRefusals, proof: PROOFS.bedrockConverse },
  { name: 'ollama', refusals: ollamaRefusals },
  { name: 'cohere', refusals: cohereRefusals },
  { name: 'vercel', refusals: sdkRefusals },
]

/**
 * Servers of OpenAI's shape differ. A thought goes back to the one that gave it under a name of its own, and
 * no other field or unreadable argument to the strictest.
 */
function chatRefusals(request: unknown, messages: readonly Message[]): string[] {
  const blocks = messages.flatMap(({ content }) => content)
  const custom = blocks.some(({ extras }) => /^custom/.test(String(extras?.type)))
  return openaiChatRefusals(request, { thoughts: blocks.some(isServerThought), strict: !custom })
}

const ORACLES = {
  anthropic: [anthropicRefusals, ['system', 'messages'], PROOFS.anthropic],
  openai: [openaiResponsesRefusals, ['input'], PROOFS.openaiResponses],
  google: [geminiRefusals, ['systemInstruction', 'contents'], PROOFS.gemini],
} as const

/** What the AI SDK refuses, and what the APIs refuse of that which its provider packages make of a prompt. */
async function sdkRefusals(request: unknown, messages: readonly Message[]): Promise<string[]> {
  const refused = aiSdkRefusals(request)
  if (refused.length > 0) return refused
  for (const [version, provider] of SENDERS) {
    const [refusals, fields, proof] = ORACLES[provider]
    try {
      const sent = await sentBy(version, provider, (request as { messages: unknown }).messages)
      const input = Object.fromEntries(
        Object.entries(sent as object).filter(([name]) => (fields as readonly string[]).includes(name)),
      )
      for (const sentence of [...refusals(input), ...lostOf(messages, sent, proof)])
        refused.push(`${provider} of ${version}: ${sentence}`)
    } catch (error) {
      refused.push(`${provider} of ${version}: ${error}`)
    }
  }
  return refused
}

const targets = new Map(
  Object.values(formats)
    .filter((value): value is Target => typeof value === 'object' && 'writeRequest' in value)
    .map((target) => [target.name, target]),
)

/** What is wrong with the request that a target writes: refused by the API, or without something. */
async function faultsOf(target: Target, { refusals, proof }: Row, messages: readonly Message[]) {
  const request = target.writeRequest(frozen(messages))
  return [
    ...(await refusals(request, messages)).map((sentence) => `refused: ${sentence}`),
    ...lostOf(messages, request, proof).map((what) => `lost: ${what}`),
  ]
}

describe.each(rows.filter(({ name }) => targets.has(name)))('$name', (row) => {
  const target = targets.get(row.name)!

  test.each(histories)('takes a conversation that %s began', async (history) => {
    expect(await faultsOf(target, row, read(history))).toEqual([])
  })

  test('takes any thread, and nothing that matters is lost', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(thread, async (messages) => {
        expect(await faultsOf(target, row, messages)).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })
})
