export type { DevtoolsOptions } from './context.ts'
export { createDevtoolsHandler } from './handler.ts'
