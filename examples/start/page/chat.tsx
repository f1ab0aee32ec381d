'use client'
import { useStream } from '@langchain/react'
import { useState } from 'react'
import { type Decision, Question, type Questions } from './question.tsx'

/** A chat with the assistant: its messages, its tool calls, and its questions. */
export function Chat() {
  const [threadId, setThreadId] = useState<string | null>(null)
  const thread = useStream<Record<string, unknown>, Questions>({
    apiUrl: new URL('/agents', globalThis.location?.href ?? 'http://localhost').href,
    assistantId: 'assistant',
    threadId,
    onThreadId: setThreadId,
  })
  const { messages, interrupts, isLoading, error, submit, respond, client } = thread
  const send = (form: FormData) =>
    submit({ messages: [{ type: 'human', content: String(form.get('text')) }] })
  const stop = () => threadId && client.runs.cancelMany({ threadId, status: 'running' })
  const answer = (interruptId: string, decisions: readonly Decision[]) =>
    respond({ decisions }, { interruptId })
  return (
    <main>
      <header>
        <h1>Assistant</h1>
        <button type="button" onClick={() => setThreadId(null)}>
          New chat
        </button>
      </header>
      <div role="log" aria-live="polite">
        {messages.length === 0 && <p className="hint">Say something, or ask for a mail.</p>}
        {messages.map((message) => (
          <article key={message.id} className={message.type}>
            {message.text || callsOf(message)}
          </article>
        ))}
        {interrupts.map(({ id, value }) => (
          <Question key={id} questions={value} onAnswer={(decisions) => answer(id!, decisions)} />
        ))}
        {error ? <p role="alert">{String(error)}</p> : null}
      </div>
      <form action={send}>
        <input name="text" aria-label="Message" placeholder="Message" autoComplete="off" required />
        {isLoading ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="submit">Send</button>
        )}
      </form>
    </main>
  )
}

/** The tools that a message without text calls. */
const callsOf = (message: object): string => {
  const { tool_calls: calls = [] } = message as { tool_calls?: readonly { readonly name: string }[] }
  return calls.map(({ name }) => `Calls ${name}…`).join(' ')
}
