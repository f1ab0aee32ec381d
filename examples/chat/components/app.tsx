'use client'

import type { FirstState } from 'agentwire/react'
import { Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { later } from '../lib/later.ts'
import { useNavigation } from '../lib/navigation.ts'
import { focusComposer, stopRun } from '../lib/page.ts'
import { SEARCH_ID } from '../lib/shortcuts.ts'
import { useShortcuts } from '../lib/use-shortcuts.ts'
import { useThreadGone } from '../lib/use-thread-gone.ts'
import type { Start } from './conversation/conversation.tsx'
import { Header } from './header/header.tsx'
import { Sidebar } from './sidebar/sidebar.tsx'
import { Gone } from './status/gone.tsx'
import { Ready } from './ui/ready.tsx'
import { Toasts } from './ui/toasts.tsx'

/** Its code is half of the page's. It loads next to the frame, which is shown without it. */
const Conversation = later(async () => (await import('./conversation/conversation.tsx')).Conversation)
const Dialog = later(async () => (await import('./ui/dialog.tsx')).Dialog)
const Keys = later(async () => (await import('./header/keys.tsx')).Keys)

interface AppProps {
  /** The state of the thread in the address. */
  readonly firstState?: FirstState | undefined
}

/** The whole page: the threads at the side (in a drawer on a phone), and the open conversation. */
export function App({ firstState }: AppProps) {
  const navigation = useNavigation()
  const first = useFirst(firstState, navigation.chatKey)
  const [isWide, setWide] = useState(true)
  const [isDrawerOpen, setDrawerOpen] = useState(false)
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [start, setStart] = useState<Start & { readonly chatKey: string }>()
  const gone = useThreadGone(navigation)

  const open = (id: string): void => {
    setDrawerOpen(false)
    navigation.open(id)
  }
  const startNew = useCallback((): string => {
    setDrawerOpen(false)
    return navigation.startNew()
  }, [navigation])
  const ask = useCallback(
    (wanted: Start): void => {
      setStart({ ...wanted, chatKey: navigation.startNew() })
    },
    [navigation],
  )
  const toggleThreads = (): void => {
    if (matchMedia('(width >= 48rem)').matches) setWide(!isWide)
    else setDrawerOpen(!isDrawerOpen)
  }
  const search = (): void => {
    if (matchMedia('(width >= 48rem)').matches) setWide(true)
    else setDrawerOpen(true)
    setTimeout(() => document.getElementById(SEARCH_ID)?.focus())
  }
  const help = (): void => setHelpOpen(true)
  useShortcuts({ new: startNew, search, threads: toggleThreads, write: focusComposer, stop: stopRun, help })

  // The same element for all renders of the frame. If it had to change before its code is loaded, React would
  // throw away the server's HTML and what was typed into it.
  const conversation = useMemo(
    () => (
      <Suspense>
        {gone ? (
          <Gone why={gone} onNew={startNew} />
        ) : (
          <Conversation
            key={navigation.chatKey}
            threadId={navigation.threadId}
            onThreadId={navigation.created}
            start={start?.chatKey === navigation.chatKey ? start : undefined}
            onAsk={ask}
            firstState={first}
          />
        )}
      </Suspense>
    ),
    [gone, navigation, startNew, start, ask, first],
  )
  const shown = { ...navigation, open, startNew }
  const sidebar = <Sidebar navigation={shown} />
  return (
    <Toasts>
      <button
        type="button"
        onClick={focusComposer}
        className="sr-only z-50 rounded-lg bg-raised p-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the message
      </button>
      <div className="flex h-full">
        {isWide && (
          <aside aria-label="Threads" className="w-72 shrink-0 border-r border-line bg-panel max-md:hidden">
            <Ready>{sidebar}</Ready>
          </aside>
        )}
        <main className="flex min-w-0 flex-1 flex-col">
          <Ready>
            <Header navigation={shown} onThreads={toggleThreads} onHelp={help} />
          </Ready>
          {conversation}
        </main>
        <Suspense>
          {isDrawerOpen && (
            <Dialog open onOpenChange={setDrawerOpen} title="Threads" side="left">
              {sidebar}
            </Dialog>
          )}
          {isHelpOpen && <Keys onClose={() => setHelpOpen(false)} />}
        </Suspense>
      </div>
    </Toasts>
  )
}

/** The state that the page came with, until another chat is opened. */
function useFirst(firstState: FirstState | undefined, chatKey: string): FirstState | undefined {
  const [{ state, key }, setFirst] = useState({ state: firstState, key: chatKey })
  useEffect(() => {
    if (key !== chatKey) setFirst({ state: undefined, key: chatKey })
  }, [key, chatKey])
  return key === chatKey ? state : undefined
}
