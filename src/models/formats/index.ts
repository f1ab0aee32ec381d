export { formats } from './all.ts'
export {
  detectFormat,
  type Format,
  type Issue,
  type ModelParams,
  type ModelRequest,
  type ModelResponse,
  type Shape,
  type StreamReader,
} from './format.ts'
export { anthropicMessages } from './providers/anthropic-messages.ts'
export { bedrockConverse } from './providers/bedrock/converse.ts'
export { bedrockInvoke } from './providers/bedrock/invoke.ts'
export { cohere } from './providers/cohere.ts'
export { gemini } from './providers/gemini/gemini.ts'
export { geminiInteractions } from './providers/gemini/interactions.ts'
export { generic } from './providers/generic/generic.ts'
export { langchain } from './providers/langchain.ts'
export { mistral } from './providers/mistral.ts'
export { ollama } from './providers/ollama.ts'
export { openaiChat } from './providers/openai-chat.ts'
export { openaiResponses } from './providers/openai-responses.ts'
export { vercel } from './providers/vercel/vercel.ts'
export { isClamped } from './reading/usage.ts'
export { anthropicTarget } from './targets/anthropic-messages.ts'
export { completionsTarget } from './targets/chat-completions.ts'
export { langchainTarget } from './targets/langchain.ts'
export { responsesTarget } from './targets/responses.ts'
export type { Target } from './targets/target.ts'
export { vercelTarget } from './targets/vercel.ts'
