// #region page
'use client'

import { useStream } from '@langchain/react'
import { useOpenThread } from 'agentwire/react'

// The server renders the page once, too, and has no window.
const origin = typeof window === 'undefined' ? 'http://localhost' : window.location.origin

export default function Page() {
  const { threadId, onThreadId } = useOpenThread() // kept in the page's address
  const { messages, submit, error } = useStream({
    apiUrl: new URL('/agents', origin).href,
    assistantId: 'agent',
    threadId,
    onThreadId,
  })
  const send = (form: FormData) =>
    submit({ messages: [{ type: 'human', content: String(form.get('text')) }] })
  return (
    <form action={send}>
      {messages.map((message) => (
        <p key={message.id}>
          {message.type}: {message.text}
        </p>
      ))}
      {error ? <p role="alert">{String(error)}</p> : null}
      <input name="text" aria-label="Message" />
      <button type="submit">Send</button>
    </form>
  )
}
// #endregion

import assert from 'node:assert/strict'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

assert.match(renderToString(createElement(Page)), /Send/)
