import { createAnthropic as anthropic6 } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI as google6 } from '@ai-sdk/google'
import { createOpenAI as openai6 } from '@ai-sdk/openai'
import { generateText as generate6, modelMessageSchema as schema6 } from 'ai'
import { createAnthropic as anthropic7 } from 'ai-sdk-anthropic-4'
import { createGoogleGenerativeAI as google7 } from 'ai-sdk-google-4'
import { createOpenAI as openai7 } from 'ai-sdk-openai-4'
import { generateText as generate7, modelMessageSchema as schema7 } from 'ai7'
import { modelMessageSchema as schema60 } from 'ai60'
import { isFields } from './schema.ts'

/** What `generateText` and its like of the AI SDK 6.0, 6 and 7 refuse before any provider is asked. */
export function aiSdkRefusals(request: unknown): string[] {
  const messages = isFields(request) && Array.isArray(request.messages) ? (request.messages as unknown[]) : []
  return [['6.0', schema60] as const, ['6', schema6] as const, ['7', schema7] as const].flatMap(
    ([version, schema]) =>
      messages.flatMap((message, index) => {
        const { success, error } = schema.safeParse(message)
        return success
          ? []
          : tell(error.issues).map(
              (issue) => `messages[${index}]${issue} (AI_InvalidPromptError of ${version})`,
            )
      }),
  )
}

interface SchemaIssue {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly errors?: readonly (readonly SchemaIssue[])[]
}

/** The issues of the branch that the value meant: not those of another role or type. */
function tell(issues: readonly SchemaIssue[]): string[] {
  return issues.flatMap(({ path, message, errors }) => {
    const meant = errors?.filter(
      (branch) => !branch.some(({ path: [field] }) => field === 'role' || field === 'type'),
    )
    const inner = meant?.flatMap((branch) => tell(branch)) ?? []
    const at = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
    return inner.length > 0 ? inner.map((issue) => `${at}${issue}`) : [`${at}: ${message}`]
  })
}

// Otherwise the SDK writes a line for each part that a provider does not take.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const PIXEL = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10])

type Provider = 'anthropic' | 'openai' | 'google'

export const SENDERS: readonly (readonly [version: 6 | 7, provider: Provider])[] = [
  [6, 'anthropic'],
  [6, 'openai'],
  [6, 'google'],
  [7, 'anthropic'],
  [7, 'openai'],
  [7, 'google'],
]

/**
 * The request that a provider's package of the AI SDK sends for the messages. Throws what the package throws
 * before it sends.
 */
export async function sentBy(version: 6 | 7, provider: Provider, messages: unknown): Promise<unknown> {
  let sent: unknown
  const options = {
    apiKey: 'k',
    fetch: async (_: unknown, init?: { body?: unknown }) => {
      sent = JSON.parse(String(init?.body))
      return new Response(JSON.stringify(ANSWERS[provider]), {
        headers: { 'content-type': 'application/json' },
      })
    },
  }
  const models = {
    6: {
      anthropic: () => anthropic6(options)('claude-sonnet-4-5'),
      openai: () => openai6(options).responses('gpt-5'),
      google: () => google6(options)('gemini-3-pro'),
    },
    7: {
      anthropic: () => anthropic7(options)('claude-sonnet-4-5'),
      openai: () => openai7(options).responses('gpt-5'),
      google: () => google7(options)('gemini-3-pro'),
    },
  }
  const call = {
    model: models[version][provider](),
    messages,
    maxRetries: 0,
    allowSystemInMessages: true,
    // What a provider does not fetch itself, the SDK would fetch here.
    experimental_download: async (files: readonly { isUrlSupportedByModel: boolean }[]) =>
      files.map(({ isUrlSupportedByModel }) =>
        isUrlSupportedByModel ? null : { data: PIXEL, mediaType: 'image/png' },
      ),
    providerOptions: {
      openai: { store: false },
      anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } },
    },
  }
  await (version === 6 ? generate6(call as never) : generate7(call as never))
  return sent
}

const ANSWERS: Readonly<Record<Provider, object>> = {
  anthropic: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  openai: {
    id: 'resp_1',
    created_at: 1,
    model: 'gpt',
    output: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
      },
    ],
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  google: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  },
}
