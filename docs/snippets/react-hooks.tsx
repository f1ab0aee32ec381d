import assert from 'node:assert/strict'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

// #region page
import { createAgentClient, useAgentStream, useOpenThread, useThreads } from 'agentwire/react'

const client = createAgentClient({ apiUrl: 'http://127.0.0.1:3000' })

export function App() {
  const { entries } = useThreads(client)
  const { threadId, key, open, openNew, onThreadId } = useOpenThread()
  return (
    <main>
      <button type="button" onClick={openNew}>
        New chat
      </button>
      {entries.map(({ id, title }) => (
        <button key={id} type="button" aria-pressed={id === threadId} onClick={() => open(id)}>
          {title}
        </button>
      ))}
      <Chat key={key} threadId={threadId} onThreadId={onThreadId} />
    </main>
  )
}

interface ChatProps {
  readonly threadId: string | undefined
  readonly onThreadId: (threadId: string) => void
}

function Chat({ threadId, onThreadId }: ChatProps) {
  const { stream, isRunning, isAsking, stop, answer } = useAgentStream(client, { threadId, onThreadId })
  const send = (form: FormData) => {
    const text = String(form.get('text'))
    const [question] = stream.interrupts
    if (isAsking && question?.id) return answer({ [question.id]: text })
    return stream.submit({ messages: [{ type: 'human', content: text }] })
  }
  return (
    <form action={send}>
      {stream.messages.map((message) => (
        <p key={message.id}>
          {message.type}: {message.text}
        </p>
      ))}
      <input name="text" aria-label={isAsking ? 'Answer' : 'Message'} />
      {isRunning ? (
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

const html = renderToString(createElement(App))
assert.match(html, /New chat/)
assert.match(html, /Send/)
