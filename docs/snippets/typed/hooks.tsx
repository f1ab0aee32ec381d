import assert from 'node:assert/strict'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

// #region hooks
import { createAgentClient, useAgentStream } from 'agentwire/react'
import type { hotels } from './agents.ts'

const client = createAgentClient({ apiUrl: 'http://127.0.0.1:3000' })

export function Hotels({ threadId }: { readonly threadId: string }) {
  const { stream, isRunning } = useAgentStream<typeof hotels>(client, { threadId, assistantId: 'hotels' })
  return isRunning ? <p>Searching within {stream.values.budget}</p> : null
}
// #endregion

assert.equal(renderToString(createElement(Hotels, { threadId: 'thread' })), '')
