import type { Format } from './format.ts'
import { anthropicMessages } from './providers/anthropic-messages.ts'
import { bedrockConverse } from './providers/bedrock/converse.ts'
import { bedrockInvoke } from './providers/bedrock/invoke.ts'
import { cohere } from './providers/cohere.ts'
import { gemini } from './providers/gemini/gemini.ts'
import { geminiInteractions } from './providers/gemini/interactions.ts'
import { generic } from './providers/generic/generic.ts'
import { langchain } from './providers/langchain.ts'
import { mistral } from './providers/mistral.ts'
import { ollama } from './providers/ollama.ts'
import { openaiChat } from './providers/openai-chat.ts'
import { openaiResponses } from './providers/openai-responses.ts'
import { vercel } from './providers/vercel/vercel.ts'

/**
 * All formats, in the order in which `detectFormat` must try them:
 *
 * 1. Libraries that wrap provider responses: LangChain and the AI SDK.
 * 2. Providers whose formats have fields that no other format has.
 * 3. `generic`, for the platform's own blocks and for shapes of no provider.
 * 4. OpenAI Chat Completions, which matches any `choices` and any `messages`, because many servers use it
 *    with little in common.
 */
export const formats: readonly Format[] = [
  langchain,
  vercel,
  bedrockInvoke,
  bedrockConverse,
  gemini,
  geminiInteractions,
  ollama,
  cohere,
  mistral,
  openaiResponses,
  anthropicMessages,
  generic,
  openaiChat,
]
