/** @jsxImportSource preact */
import { render } from 'preact'
import { useState } from 'preact/hooks'
import type { ThreadsPage } from '../wire.ts'
import { listenToKeys, routeTo, useConnection, usePolled, useRoute } from './data/hooks.ts'
import { remember, remembered } from './data/local-settings.ts'
import { CompareView } from './views/compare.tsx'
import { NewThread } from './views/composer.tsx'
import { Empty } from './views/parts.tsx'
import { ServerView } from './views/server.tsx'
import { ThreadView } from './views/thread.tsx'
import { ThreadList } from './views/thread-list.tsx'

type Theme = 'auto' | 'light' | 'dark'

const NAME = 'theme'
const NEXT: Readonly<Record<Theme, Theme>> = { auto: 'light', light: 'dark', dark: 'auto' }

const isTheme = (text: string | null): text is Theme => text !== null && Object.hasOwn(NEXT, text)

function stored(): Theme {
  const text = remembered(NAME)
  return isTheme(text) ? text : 'auto'
}

function apply(theme: Theme): void {
  document.documentElement.dataset.theme = theme
}

const restoreTheme = (): void => apply(stored())

function ThemeButton() {
  const [theme, setTheme] = useState(stored)
  const change = () => {
    const next = NEXT[theme]
    setTheme(next)
    apply(next)
    remember(NAME, next)
  }
  return (
    <button type="button" class="quiet" onClick={change} title="Change the colours">
      {{ auto: '◐', light: '☀', dark: '☾' }[theme]} <span class="wide">{theme}</span>
      <span class="hidden"> colours</span>
    </button>
  )
}

function App() {
  const [view, id, tab = 'conversation', ...place] = useRoute()
  const threadId = view === 'threads' ? id : undefined
  const isServer = view === 'server'
  const isNew = view === 'new'
  const isCompare = view === 'compare'
  return (
    <div class={`app ${threadId !== undefined || isServer || isNew || isCompare ? 'has-main' : ''}`}>
      <header class="top line">
        <a class="brand" href={routeTo()}>
          agentwire <span>devtools</span>
        </a>
        <span class="keys wide small dim" aria-hidden="true">
          <kbd>j</kbd> <kbd>k</kbd> move <kbd>/</kbd> search <kbd>1</kbd>–<kbd>7</kbd> views <kbd>Esc</kbd>{' '}
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
        ) : isNew ? (
          <NewThread />
        ) : isCompare ? (
          <CompareView place={[id, tab, ...place].filter((part) => part !== undefined)} />
        ) : threadId === undefined ? (
          <Newest />
        ) : (
          <ThreadView key={threadId} threadId={threadId} tab={tab} place={place} />
        )}
      </main>
    </div>
  )
}

const POLL_MS = 2_000

/** The thread in which something happened last, until one is chosen. */
function Newest() {
  const { data } = usePolled<ThreadsPage>('/threads?limit=1', POLL_MS)
  const [thread] = data?.threads ?? []
  if (thread)
    return <ThreadView key={thread.thread_id} threadId={thread.thread_id} tab="conversation" place={[]} />
  return <Empty>{data ? 'Send a message to an agent, and its thread is shown here.' : 'Loading…'}</Empty>
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

restoreTheme()
listenToKeys()
render(<App />, document.getElementById('app')!)
