export { agUi, createAgUiHandler } from './face.ts'
export type { AgUiOptions } from './options.ts'
