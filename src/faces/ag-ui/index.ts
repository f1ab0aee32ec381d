export { agUi } from './group.ts'
export { createAgUiHandler } from './handler.ts'
export type { AgUiOptions } from './options.ts'
