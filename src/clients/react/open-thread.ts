import { useState, useSyncExternalStore } from 'react'
import { isServer } from './environment.ts'
import { type Observable, observable } from './observable.ts'

/** Which conversation is open, and the `key` of the component that shows it. */
export interface Opened {
  readonly threadId: string | undefined
  readonly key: number
}

export interface OpenThreadStore extends Pick<Observable<Opened>, 'get' | 'subscribe'> {
  open(threadId: string): void
  openNew(): void
  /** The chat with this key has its thread. A chat that was left may get it later. */
  named(threadId: string, key: number): void
}

/** The parameter of a page's address that names its thread. */
const PARAMETER = 'thread'

/**
 * Keeps which conversation is open. Unless `first` says with which one it begins, the address of the page
 * names it, so that a reload, a bookmark and the browser's back button open it again.
 */
export function createOpenThread(first: string | null | undefined): OpenThreadStore {
  const isInAddress = first === undefined
  const begun = isInAddress ? threadOfAddress() : (first ?? undefined)
  // A page that a server has rendered shows a new chat first, with the key 0.
  const { get, set, subscribe } = observable<Opened>(
    { threadId: begun, key: isInAddress && begun !== undefined ? 1 : 0 },
    () => {
      if (!isInAddress) return () => {}
      addEventListener('popstate', follow)
      return () => removeEventListener('popstate', follow)
    },
  )
  const show = (threadId: string | undefined): void => set({ threadId, key: get().key + 1 })
  const follow = (): void => {
    const threadId = threadOfAddress()
    if (threadId !== get().threadId) show(threadId)
  }
  const write = (how: 'pushState' | 'replaceState', threadId: string | undefined): void => {
    if (isInAddress && threadId !== threadOfAddress()) history[how](history.state, '', addressOf(threadId))
  }
  return {
    get,
    subscribe,
    open(threadId) {
      if (get().threadId === threadId) return
      write('pushState', threadId)
      show(threadId)
    },
    openNew() {
      write('pushState', undefined)
      show(undefined)
    },
    named(threadId, key) {
      if (get().key !== key) return
      write('replaceState', threadId)
      set({ threadId, key })
    },
  }
}

const threadOfAddress = (): string | undefined =>
  new URLSearchParams(location.search).get(PARAMETER) || undefined

function addressOf(threadId: string | undefined): string {
  const url = new URL(location.href)
  if (threadId === undefined) url.searchParams.delete(PARAMETER)
  else url.searchParams.set(PARAMETER, threadId)
  return url.href
}

export interface OpenThread {
  /** Undefined in a new chat before its first message. */
  readonly threadId: string | undefined
  /**
   * The `key` of the component that shows the conversation. It changes when another conversation is opened, and
   * stays when a new chat gets its thread.
   */
  readonly key: number
  /** Opens a thread. Does nothing if it is open. */
  readonly open: (threadId: string) => void
  /** Opens a new chat. */
  readonly openNew: () => void
  /** Pass this to `useAgentStream`: a new chat calls it when it has its thread. */
  readonly onThreadId: (threadId: string) => void
}

/**
 * Which conversation of a page is open. The address of the page names it in the parameter `thread`, so a reload
 * and the browser's back button open it again. With `first`, it begins with that thread, or with a new chat for
 * null, and leaves the address to you.
 */
export const useOpenThread: (first?: string | null) => OpenThread = isServer ? openOnServer : useOpenOnPage

function openOnServer(first?: string | null): OpenThread {
  return { threadId: first ?? undefined, key: 0, open: () => {}, openNew: () => {}, onThreadId: () => {} }
}

function useOpenOnPage(first?: string | null): OpenThread {
  const [{ store, rendered }] = useState(() => ({
    store: createOpenThread(first),
    rendered: { threadId: first ?? undefined, key: 0 },
  }))
  // A server does not know the address, so its HTML has a new chat.
  const { threadId, key } = useSyncExternalStore(store.subscribe, store.get, () => rendered)
  const { open, openNew, named } = store
  return { threadId, key, open, openNew, onThreadId: (id) => named(id, key) }
}
