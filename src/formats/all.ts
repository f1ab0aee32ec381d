import type { Format } from './format.ts'
import { anthropicMessages } from './providers/anthropic-messages.ts'
import { bedrockConverse } from './providers/bedrock/converse.ts'
import { bedrockInvoke } from './providers/bedrock/invoke.ts'
import { cohere } from './providers/cohere.ts'
import { gemini } from './providers/gemini/gemini.ts'
import { geminiInteractions } from './providers/gemini-interactions.ts'
import { generic } from './providers/generic/generic.ts'
import { langchain } from './providers/langchain.ts'
import { mistral } from './providers/mistral.ts'
import { ollama } from './providers/ollama.ts'
import { openaiChat } from './providers/openai-chat.ts'
import { openaiResponses } from './providers/openai-responses.ts'
import { vercel } from './providers/vercel/vercel.ts'

/**
 * All formats, in the order in which `detectFormat` is to ask them:
 *
 * 1. Those that wrap what others say: LangChain (classes and `generations`), the AI SDK (hyphenated parts, camelCase).
 * 2. The providers, by fields that only they have.
 * 3. `generic` for the platform's own blocks and for shapes that nobody else claims.
 * 4. OpenAI Chat Completions, which many servers speak and nothing marks: any `choices`, any `messages`.
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
