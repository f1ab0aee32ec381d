'use client'
import { useStream } from '@langchain/react'
import { useOpenThread } from 'agentwire/react'
import { Answer } from './answer.tsx'
import { type Decision, Question, type Questions } from './question.tsx'

/** A chat with the assistant. The page's address names the conversation, so that a reload opens it again. */
export function Chat() {
  const { threadId, key, openNew, onThreadId } = useOpenThread()
  return (
    <main>
      <header>
        <h1>Assistant</h1>
        <button type="button" onClick={openNew}>
          New chat
        </button>
      </header>
      <Conversation key={key} threadId={threadId} onThreadId={onThreadId} />
    </main>
  )
}

interface ConversationProps {
  readonly threadId: string | undefined
  readonly onThreadId: (threadId: string) => void
}

/** One conversation: its messages, its tool calls and its questions. */
function Conversation({ threadId, onThreadId }: ConversationProps) {
  const thread = useStream<Record<string, unknown>, Questions>({
    apiUrl: new URL('/agents', globalThis.location?.href ?? 'http://localhost').href,
    assistantId: 'assistant',
    threadId,
    onThreadId,
  })
  const { messages, interrupts, isLoading, error, submit, respond, client } = thread
  const send = (form: FormData) =>
    submit({ messages: [{ type: 'human', content: String(form.get('text')) }] })
  const stop = () => threadId && client.runs.cancelMany({ threadId, status: 'running' })
  const answer = (interruptId: string, decisions: readonly Decision[]) =>
    respond({ decisions }, { interruptId })
  return (
    <>
      <div role="log" aria-live="polite">
        {messages.length === 0 && (
          <p className="hint">Say something, or ask for mails to ada@example.com and bob@example.com.</p>
        )}
        {messages.map((message) => (
          <article key={message.id} className={message.type}>
            {message.type === 'ai' && message.text ? (
              <Answer text={message.text} />
            ) : (
              message.text || callsOf(message)
            )}
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
    </>
  )
}

/** The tools that a message without text calls. */
const callsOf = (message: object): string => {
  const { tool_calls: calls = [] } = message as { tool_calls?: readonly { readonly name: string }[] }
  return calls.map(({ name }) => `Calls ${name}…`).join(' ')
}
