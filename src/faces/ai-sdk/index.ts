export type { ClientTool } from '../../agents/model-request.ts'
export { aiSdk, createAiSdkHandler } from './face.ts'
export type { AiSdkOptions } from './options.ts'
