export type { ClientTool } from '../../agents/model-request.ts'
export { aiSdk } from './group.ts'
export { createAiSdkHandler } from './handler.ts'
export type { AiSdkOptions } from './options.ts'
