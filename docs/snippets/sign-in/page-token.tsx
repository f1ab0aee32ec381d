import assert from 'node:assert/strict'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

// #region page
import { useStream } from '@langchain/react'
import { useMemo } from 'react'

type GetToken = () => Promise<string | null>

/** Sends the token with all requests: `fetch` makes those of the stream, and `callerOptions` all others. */
export function withToken(getToken: GetToken) {
  const authorized: typeof fetch = async (url, init) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${await getToken()}`)
    return fetch(url, { ...init, headers })
  }
  return { fetch: authorized, callerOptions: { fetch: authorized } }
}

export function Chat({ getToken }: { readonly getToken: GetToken }) {
  const options = useMemo(() => withToken(getToken), [getToken])
  const { messages } = useStream({ apiUrl: 'http://localhost:3000', assistantId: 'agent', ...options })
  return messages.map((message) => <p key={message.id}>{message.text}</p>)
}
// #endregion

assert.equal(renderToString(createElement(Chat, { getToken: async () => 'a' })), '')
