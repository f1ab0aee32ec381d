/** @jsxImportSource preact */
import { routeTo, useConnection, useRoute } from './data/hooks.ts'
import { Empty } from './views/parts.tsx'
import { ServerView } from './views/server.tsx'
import { ThemeButton } from './views/theme.tsx'
import { ThreadView } from './views/thread.tsx'
import { ThreadList } from './views/thread-list.tsx'

export function App() {
  const [view, id, tab = 'log'] = useRoute()
  const threadId = view === 'threads' ? id : undefined
  const isServer = view === 'server'
  return (
    <div class={`app ${threadId !== undefined || isServer ? 'has-main' : ''}`}>
      <header class="top line">
        <a class="brand" href={routeTo()}>
          agentwire <span>devtools</span>
        </a>
        <span class="keys wide small dim" aria-hidden="true">
          <kbd>j</kbd> <kbd>k</kbd> move <kbd>/</kbd> search <kbd>1</kbd>–<kbd>5</kbd> views <kbd>Esc</kbd>{' '}
          back
        </span>
        <a class="button" href={routeTo('server')} aria-current={isServer ? 'page' : undefined}>
          Server
        </a>
        <ThemeButton />
      </header>
      <Away />
      <ThreadList openId={threadId} tab={tab} />
      <main class="stack">
        {isServer ? (
          <ServerView />
        ) : threadId === undefined ? (
          <Empty>Choose a thread to see its events, steps and states as they come.</Empty>
        ) : (
          <ThreadView key={threadId} threadId={threadId} tab={tab} />
        )}
      </main>
    </div>
  )
}

/** Shown once for the page, because everything fails at once. */
function Away() {
  const { away, problem } = useConnection()
  return (
    <div role="status" class={away ? 'away' : 'hidden'}>
      {away && (
        <>
          <strong>{problem}</strong> What you see is the last that was known. The page goes on by itself when
          the server is back.
        </>
      )}
    </div>
  )
}
