export { formats } from './all.ts'
export { anthropicMessages } from './anthropic-messages.ts'
export { anthropicTarget } from './anthropic-target.ts'
export { bedrockConverse } from './bedrock-converse.ts'
export { bedrockInvoke } from './bedrock-invoke.ts'
export { cohere } from './cohere.ts'
export { completionsTarget } from './completions-target.ts'
export { detectFormat } from './detect.ts'
export type {
  Format,
  Issue,
  ModelParams,
  ModelRequest,
  ModelResponse,
  Shape,
  StreamReader,
} from './format.ts'
export { gemini } from './gemini.ts'
export { geminiInteractions } from './gemini-interactions.ts'
export { generic } from './generic.ts'
export { langchain } from './langchain.ts'
export { langchainTarget } from './langchain-target.ts'
export { mistral } from './mistral.ts'
export { ollama } from './ollama.ts'
export { openaiChat } from './openai-chat.ts'
export { openaiResponses } from './openai-responses.ts'
export { responsesTarget } from './responses-target.ts'
export type { Target } from './target.ts'
export { isClamped } from './usage.ts'
export { vercel } from './vercel.ts'
export { vercelTarget } from './vercel-target.ts'
