export { openAi } from './group.ts'
export { createOpenAiHandler } from './handler.ts'
export type { OpenAiOptions } from './options.ts'
