import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { createAgentClient, useOpenThread, useReachable, useThreads } from '../../../clients/react/index.ts'
import { AGENTS, type DemoAgent } from '../hints.ts'
import { Conversation } from './conversation.tsx'

/** The page is at the root of the agents' server. */
const client = createAgentClient({ apiUrl: location.origin })

/** The list of threads, and the one that the page's address names. */
function App() {
  const { threadId, key, open, openNew, onThreadId } = useOpenThread()
  const { entries, isLoaded, error } = useThreads(client)
  const isReachable = useReachable(client)
  const [agent, setAgent] = useState<DemoAgent>(AGENTS[0])
  return (
    <div className="app">
      <nav aria-label="Conversations">
        <button type="button" onClick={openNew}>
          New chat
        </button>
        <ul>
          {entries.map(({ id, title, status }) => (
            <li key={id}>
              <button
                type="button"
                aria-current={id === threadId ? 'page' : undefined}
                onClick={() => open(id)}
              >
                {title || 'New chat'}
                {status === 'interrupted' && <small> waits for you</small>}
              </button>
            </li>
          ))}
        </ul>
        {isLoaded && entries.length === 0 && <p className="faint">No conversations yet.</p>}
        {error && <p role="alert">{error.message}</p>}
        <a href="/devtools">Devtools</a>
      </nav>
      <main>
        {!isReachable && (
          <p role="status" className="away">
            The server does not answer. The page goes on when it is back.
          </p>
        )}
        <Conversation
          key={key}
          client={client}
          threadId={threadId}
          onThreadId={onThreadId}
          agent={agent}
          onAgent={setAgent}
        />
      </main>
    </div>
  )
}

createRoot(document.getElementById('app')!).render(<App />)
