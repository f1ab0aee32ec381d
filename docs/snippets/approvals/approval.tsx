import assert from 'node:assert/strict'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

// #region approval
import { useStream } from '@langchain/react'
import { useOpenThread } from 'agentwire/react'

interface Question {
  readonly question: string
}

export function Chat() {
  const { threadId, onThreadId } = useOpenThread() // kept in the page's address
  const { messages, interrupts, respond, submit } = useStream<Record<string, unknown>, Question>({
    apiUrl: 'http://127.0.0.1:3000',
    assistantId: 'agent',
    threadId,
    onThreadId,
  })
  const send = () => submit({ messages: [{ type: 'human', content: 'Mail Ada.' }] })
  const answer = (id: string, approved: boolean) =>
    respond({ approved, to: 'ada@example.org' }, { interruptId: id })
  return (
    <main>
      {messages.map((message) => (
        <p key={message.id}>
          {message.type}: {message.text}
        </p>
      ))}
      {interrupts.map(({ id, value }) => (
        <p key={id}>
          {value?.question}
          <button type="button" onClick={() => answer(id!, true)}>
            Approve
          </button>
          <button type="button" onClick={() => answer(id!, false)}>
            Reject
          </button>
        </p>
      ))}
      <button type="button" onClick={() => send()}>
        Mail Ada
      </button>
    </main>
  )
}
// #endregion

assert.match(renderToString(createElement(Chat)), /Mail Ada/)
