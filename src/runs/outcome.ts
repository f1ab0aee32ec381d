import type { StopReason } from './context.ts'

/** How an attempt came to its end. */
export type Outcome =
  | { readonly end: 'done' }
  | { readonly end: 'failed'; readonly error: unknown }
  | { readonly end: 'stopped'; readonly reason: StopReason }
