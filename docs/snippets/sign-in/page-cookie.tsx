import assert from 'node:assert/strict'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

// #region page
import { useStream } from '@langchain/react'

const withCookies: typeof fetch = (url, init) => fetch(url, { ...init, credentials: 'include' })
const options = { fetch: withCookies, callerOptions: { fetch: withCookies } }

export function Chat() {
  const apiUrl = 'https://api.example.com/agents'
  const { messages } = useStream({ apiUrl, assistantId: 'agent', ...options })
  return messages.map((message) => <p key={message.id}>{message.text}</p>)
}
// #endregion

assert.equal(renderToString(createElement(Chat)), '')
