export { createOpenAiHandler, openAi } from './face.ts'
export type { OpenAiOptions } from './options.ts'
