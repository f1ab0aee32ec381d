import { anthropicMessages } from './anthropic-messages.ts'
import { bedrockConverse } from './bedrock-converse.ts'
import { bedrockInvoke } from './bedrock-invoke.ts'
import { cohere } from './cohere.ts'
import type { Format } from './format.ts'
import { gemini } from './gemini.ts'
import { geminiInteractions } from './gemini-interactions.ts'
import { generic } from './generic.ts'
import { langchain } from './langchain.ts'
import { mistral } from './mistral.ts'
import { ollama } from './ollama.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'
import { vercel } from './vercel.ts'

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
