import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ContentBlock, Message } from '../../../src/messages/index.ts'
import type { ModelApi } from '../../../src/models/formats/models.ts'
import * as models from '../../../src/models/formats/models.ts'
import { frozen } from '../helpers.ts'
import { aiSdkRefusals, SENDERS, sentBy } from './ai-sdk.ts'
import { histories, PROOFS, read } from './histories.ts'
import {
  anthropicRefusals,
  bedrockConverseRefusals,
  cohereRefusals,
  geminiRefusals,
  mistralRefusals,
  ollamaRefusals,
  openaiChatRefusals,
  openaiResponsesRefusals,
} from './index.ts'
import { lostOf } from './lost.ts'
import { isServerThought, thread } from './threads.ts'

/** New threads each time. The nightly run takes more. */
const RUNS = Number(process.env.FORMAT_RUNS ?? 150)

interface Row {
  /** The name of the API as the package exports it. */
  readonly name: string
  /** What the API says to the request. */
  readonly refusals: (request: unknown, messages: readonly Message[]) => string[] | Promise<string[]>
  /** How the proofs of thoughts start that this API gives. */
  readonly proof?: string
  /** Whether it wants the thoughts back that a server of OpenAI's shape gave. */
  readonly thoughts?: boolean
}

const rows: readonly Row[] = [
  { name: 'anthropic', refusals: anthropicRefusals, proof: PROOFS.anthropic },
  { name: 'openai', refusals: strictest },
  {
    name: 'openaiCompatible',
    refusals: (request) => openaiChatRefusals(request, { thoughts: true }),
    thoughts: true,
  },
  { name: 'openaiResponses', refusals: openaiResponsesRefusals, proof: PROOFS.openaiResponses },
  { name: 'gemini', refusals: ofGemini, proof: PROOFS.gemini },
  { name: 'bedrock', refusals: bedrockConverseRefusals, proof: PROOFS.bedrockConverse },
  { name: 'ollama', refusals: ollamaRefusals },
  { name: 'cohere', refusals: cohereRefusals },
  { name: 'mistral', refusals: mistralRefusals },
  { name: 'aiSdk', refusals: sdkRefusals },
]

/** The strictest servers of OpenAI's shape take no custom calls, so these are asked of OpenAI itself. */
function strictest(request: unknown, messages: readonly Message[]): string[] {
  const blocks = messages.flatMap(({ content }) => content)
  return openaiChatRefusals(request, {
    strict: !blocks.some(({ extras }) => /^custom/.test(String(extras?.type))),
  })
}

/** A model of Gemini that signs no calls of its own asks for no signatures: those before Gemini 3. */
function ofGemini(request: unknown, messages: readonly Message[]): string[] {
  const unsigned = messages.some(({ content, metadata }) =>
    content.some(
      ({ type }) => /^(toolCall|invalidToolCall)$/.test(type) && /^gemini/.test(String(metadata?.model)),
    ),
  )
  return geminiRefusals(request).filter(
    (sentence) => !unsigned || !/missing a thought_signature/.test(sentence),
  )
}

/** The thoughts of servers that are no longer in a request. */
const lostThoughts = (messages: readonly Message[], request: unknown): string[] => {
  const sent = JSON.stringify(request)
  return messages
    .flatMap(({ role, content }) => (role === 'assistant' ? content : []))
    .flatMap((block) => (block.type === 'reasoning' && isServerThought(block) ? [block.text] : []))
    .filter((text) => !sent.includes(JSON.stringify(Buffer.from(text).toString()).slice(1, -1)))
}

const ORACLES = {
  anthropic: [anthropicRefusals, ['system', 'messages'], PROOFS.anthropic],
  openai: [openaiResponsesRefusals, ['input'], PROOFS.openaiResponses],
  google: [geminiRefusals, ['systemInstruction', 'contents'], PROOFS.gemini],
} as const

const isInherited = (block: ContentBlock): boolean => 'name' in block && String(block.name) in {}

/** What the AI SDK refuses, and what the APIs refuse of that which its provider packages make of a prompt. */
async function sdkRefusals(request: unknown, messages: readonly Message[]): Promise<string[]> {
  const refused = aiSdkRefusals(request)
  // Its packages look names of tools up in a plain object, and find `constructor` there.
  if (refused.length > 0 || messages.some(({ content }) => content.some(isInherited))) return refused
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

const apis = new Map<string, ModelApi>(Object.entries(models))

/** What is wrong with the request that is written for an API: refused by the API, or without something. */
async function faultsOf(
  api: ModelApi,
  { refusals, proof, thoughts }: Row,
  messages: readonly Message[],
): Promise<string[]> {
  const request = api.writeRequest(frozen(messages))
  return [
    ...(await refusals(request, messages)).map((sentence) => `refused: ${sentence}`),
    ...lostOf(messages, request, proof).map((what) => `lost: ${what}`),
    ...(thoughts ? lostThoughts(messages, request) : []).map((text) => `lost: thought ${text}`),
  ]
}

test('each API is asked', () => {
  expect(rows.map(({ name }) => name).sort()).toEqual([...apis.keys()].sort())
})

describe.each(rows)('$name', (row) => {
  const api = apis.get(row.name)!

  test.each(histories)('takes a conversation that %s began', async (history) => {
    expect(await faultsOf(api, row, read(history))).toEqual([])
  })

  test('takes any thread, and nothing that matters is lost', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(thread, async (messages) => {
        expect(await faultsOf(api, row, messages)).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })
})

test.each(rows)(
  '$name takes a search that the tool of another provider ran, alone in its answer',
  async (row) => {
    const searched: Message[] = [
      { role: 'user', content: [{ type: 'text', text: 'Search' }] },
      {
        role: 'assistant',
        content: [
          {
            type: 'serverToolCall',
            id: 'srv_1',
            name: 'web_search',
            args: {},
            extras: { providerExecuted: true },
          },
          { type: 'serverToolResult', toolCallId: 'srv_1', status: 'success', output: [] },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'And?' }] },
    ]
    expect(await faultsOf(apis.get(row.name)!, row, searched)).toEqual([])
  },
)
