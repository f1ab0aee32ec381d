import type { contentOf } from 'agentwire/react'

/** A message's content: plain text, or content blocks if there are attachments. */
export type Content = ReturnType<typeof contentOf>
