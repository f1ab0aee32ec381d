export { anthropicRefusals, anthropicThinkingRefusals } from './anthropic.ts'
export { type ChatServer, openaiChatRefusals } from './openai-chat.ts'
export { openaiResponsesRefusals } from './openai-responses.ts'
