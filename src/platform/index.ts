export type { PlatformOptions, PlatformSwitches } from './context.ts'
export { createPlatformHandler } from './handler.ts'
export type { WebhookOptions } from './runs/webhooks.ts'
