export type { DevtoolsOptions, ModelPrice } from './context.ts'
export { createDevtoolsHandler } from './group.ts'
