import { useState, useSyncExternalStore } from 'react'
import { isServer } from './on-server.ts'
import { createOpenThread } from './open-thread.ts'

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
