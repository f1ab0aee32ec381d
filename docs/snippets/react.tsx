import assert from 'node:assert/strict'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

// #region page
import { useStream } from '@langchain/react'
import { useOpenThread } from 'agentwire/react'

export function Chat() {
  const { threadId, onThreadId } = useOpenThread() // kept in the page's address
  const { messages, submit, isLoading, error, client } = useStream({
    apiUrl: 'http://127.0.0.1:3000',
    assistantId: 'agent',
    threadId,
    onThreadId,
  })
  const stop = () => threadId && client.runs.cancelMany({ threadId, status: 'running' })
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
      {isLoading ? (
        <button type="button" onClick={() => stop()}>
          Stop
        </button>
      ) : (
        <button type="submit">Send</button>
      )}
    </form>
  )
}
// #endregion

assert.match(renderToString(createElement(Chat)), /<button type="submit">Send<\/button>/)
