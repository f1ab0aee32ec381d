export { anthropicMessages } from './anthropic-messages.ts'
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
export { openaiChat } from './openai-chat.ts'
export { openaiResponses } from './openai-responses.ts'
