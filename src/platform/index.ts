export type { PlatformOptions, PlatformSwitches } from './context.ts'
export { createPlatformHandler } from './handler.ts'
