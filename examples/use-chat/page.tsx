/**
 * An AI SDK chat. The server stores it: after a reload, in another tab or after a lost connection, the page
 * resumes the active answer.
 */
import { useChat } from '@ai-sdk/react'
import { type FormEvent, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

// #region chat
type Messages = ReturnType<typeof useChat>['messages']

function useStoredChat(id: string, stored: Messages) {
  const chat = useChat({
    id,
    messages: stored,
    // Requests the active answer when the page has loaded.
    resume: true,
    // An answer to an approval is sent immediately.
    sendAutomaticallyWhen: ({ messages }) => isAnswered(messages),
  })
  const { error, resumeStream } = chat
  useEffect(() => {
    // The connection is lost, but the answer continues.
    if (!(error instanceof TypeError)) return
    const timer = setTimeout(() => void resumeStream(), 500)
    return () => clearTimeout(timer)
  }, [error, resumeStream])
  // Disconnecting does not stop the answer, so this tells the server.
  const stop = () => fetch(`/api/chat/${id}/stop`, { method: 'POST' })
  return { ...chat, stop }
}

/** `lastAssistantMessageIsCompleteWithApprovalResponses` of `ai` does the same. */
function isAnswered(messages: Messages): boolean {
  const states = messages.at(-1)?.parts.map((part) => ('state' in part ? part.state : undefined)) ?? []
  return states.includes('approval-responded') && !states.includes('approval-requested')
}
// #endregion

function Chat({ id, stored }: { readonly id: string; readonly stored: Messages }) {
  const { messages, sendMessage, regenerate, stop, status, error, addToolApprovalResponse } = useStoredChat(
    id,
    stored,
  )
  const [editing, setEditing] = useState<string>()
  const [text, setText] = useState('')

  function send(event: FormEvent): void {
    event.preventDefault()
    void sendMessage({ text, ...(editing !== undefined && { messageId: editing }) })
    setEditing(undefined)
    setText('')
  }

  return (
    <main data-status={status}>
      {messages.map(({ id: messageId, role, parts }) => (
        <article key={messageId} data-role={role}>
          {parts.map((part, at) => {
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message keep their places
            if (part.type === 'text') return <p key={at}>{part.text}</p>
            if (part.type !== 'dynamic-tool') return null
            const { toolCallId, toolName, state } = part
            return (
              <section key={toolCallId} aria-label={toolName} data-state={state}>
                <code>
                  {toolName}({JSON.stringify(part.input)})
                </code>{' '}
                {state === 'output-available' && <output>{String(part.output)}</output>}
                {state === 'output-error' && <output>{part.errorText}</output>}
                {state === 'approval-requested' && (
                  <>
                    <button
                      type="button"
                      onClick={() => addToolApprovalResponse({ id: part.approval.id, approved: true })}
                    >
                      Approve
                    </button>
                    <button
                      type="button"
                      onClick={() => addToolApprovalResponse({ id: part.approval.id, approved: false })}
                    >
                      Refuse
                    </button>
                  </>
                )}
              </section>
            )
          })}
          {role === 'user' && (
            <button type="button" onClick={() => setEditing(messageId)}>
              Edit
            </button>
          )}
        </article>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit">Send</button>
        <button type="button" onClick={() => void regenerate()}>
          Again
        </button>
        <button type="button" onClick={() => void stop()}>
          Stop
        </button>
      </form>
    </main>
  )
}

// #region load
/** The chat id is in the page's address, so that the page can be reloaded. */
const id = location.hash.slice(1) || crypto.randomUUID()
location.hash = id

const response = await fetch(`/api/chat/${id}`)
const stored: Messages = response.ok ? await response.json() : []
// #endregion

createRoot(document.body.appendChild(document.createElement('div'))).render(<Chat id={id} stored={stored} />)
