import type { contentOf } from 'agentwire/react'

/** What a message is sent with: a plain text, or with attachments content blocks. */
export type Content = ReturnType<typeof contentOf>
