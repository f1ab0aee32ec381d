export type { ClientTool } from '../face/client-tools.ts'
export { aiSdk } from './group.ts'
export { createAiSdkHandler } from './handler.ts'
export type { AiSdkOptions } from './options.ts'
