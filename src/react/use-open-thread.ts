import { useState } from 'react'
import { isServer } from './on-server.ts'

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
 * Which conversation of a page is open. It begins with `first`, such as the thread of the page's address, or
 * with a new chat.
 */
export const useOpenThread: (first?: string) => OpenThread = isServer ? openOnServer : useOpenOnPage

function openOnServer(first?: string): OpenThread {
  return { threadId: first, key: 0, open: () => {}, openNew: () => {}, onThreadId: () => {} }
}

function useOpenOnPage(first?: string): OpenThread {
  const [{ threadId, key }, setOpened] = useState({ threadId: first, key: 0 })
  return {
    threadId,
    key,
    open: (id) => setOpened((now) => (now.threadId === id ? now : { threadId: id, key: now.key + 1 })),
    openNew: () => setOpened((now) => ({ threadId: undefined, key: now.key + 1 })),
    // A chat that was left may get its thread later.
    onThreadId: (id) => setOpened((now) => (now.key === key ? { threadId: id, key } : now)),
  }
}
