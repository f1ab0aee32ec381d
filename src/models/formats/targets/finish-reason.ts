import type { FinishReason, Message } from '../../../messages/index.ts'

/** The finish reason as a provider names it, or null if the message has none. */
export const writeFinishReason = (
  { finishReason }: Message,
  names: Readonly<Record<FinishReason, string>>,
): string | null => (finishReason ? names[finishReason] : null)
