import { useStream } from '@langchain/react'
import { createRoot } from 'react-dom/client'
import { useOpenThread } from '../../src/clients/react/index.ts'

/** The React line of docs/react.md, on a page of another origin than the server. */
function Chat({ apiUrl }: { readonly apiUrl: string }) {
  const { threadId, onThreadId } = useOpenThread()
  const { messages, submit } = useStream({ apiUrl, assistantId: 'agent', threadId, onThreadId })
  return (
    <main>
      <button type="button" onClick={() => submit({ messages: [{ type: 'human', content: 'Hi' }] })}>
        Send
      </button>
      {messages.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </main>
  )
}

const apiUrl = new URLSearchParams(location.search).get('api') ?? ''
createRoot(document.body.appendChild(document.createElement('div'))).render(<Chat apiUrl={apiUrl} />)
