import { useSyncExternalStore } from 'react'
import { apiUrl, client } from './client.ts'
import { entryOf, type ThreadEntry } from './thread-list.ts'

export interface Threads {
  /** Newest first, without those that are being deleted. */
  readonly entries: readonly ThreadEntry[]
  /** False before the first answer of the server. */
  readonly isLoaded: boolean
  readonly hasMore: boolean
  /** The thread of the address. Null where the server has none of this id, undefined before it was asked. */
  readonly open: ThreadEntry | null | undefined
}

const PAGE = 50
const MOST = 1_000
const POLL_MS = 5_000

let threads: Threads = { entries: [], isLoaded: false, hasMore: false, open: undefined }
let openId: string | undefined
let wanted = PAGE
/** Threads whose deletion can still be undone. */
const hidden = new Set<string>()
const listeners = new Set<() => void>()
/** Tells the other tabs of this browser. Other browsers see it with their next poll. */
const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('threads')

export const useThreads = (): Threads =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => threads,
    () => threads,
  )

function set(change: Partial<Threads>): void {
  threads = { ...threads, ...change }
  for (const listener of listeners) listener()
}

/** States are not read for these fields, so that a page of threads is cheap. */
const select = ['thread_id', 'updated_at', 'status', 'metadata'] as const

async function find(query: { ids?: string[]; limit?: number }): Promise<readonly ThreadEntry[]> {
  return (await client.threads.search({ ...query, select: [...select] })).map(entryOf)
}

/** Reads the list again, and the open thread where the list does not have it. */
export async function refreshThreads(): Promise<void> {
  const asked = openId
  const found = await find({ limit: wanted })
  const known = found.find(({ id }) => id === asked)
  const open = known ?? (asked === undefined ? undefined : ((await find({ ids: [asked] }))[0] ?? null))
  const entries = found.filter(({ id }) => !hidden.has(id))
  const hasMore = found.length >= wanted && wanted < MOST
  set({ entries, isLoaded: true, hasMore, ...(asked === openId && { open }) })
}

/** Something has changed here: this list and those of the other tabs are read again. */
export async function threadsChanged(): Promise<void> {
  await refreshThreads()
  channel?.postMessage('changed')
}

export function openThread(id: string | undefined): void {
  openId = id
  set({ open: threads.entries.find((entry) => entry.id === id) })
}

/** Reads one page more, or all that a search looks through. */
export function loadMore(all = false): Promise<void> {
  wanted = all ? MOST : Math.min(wanted + PAGE, MOST)
  return refreshThreads()
}

export async function renameThread(id: string, title: string): Promise<void> {
  const renamed = threads.entries.map((entry) => (entry.id === id ? { ...entry, title } : entry))
  set({ entries: renamed, ...(openId === id && { open: renamed.find((entry) => entry.id === id) }) })
  await client.threads.update(id, { metadata: { title } })
  await threadsChanged()
}

/** Takes a thread out of the list. It is deleted by `deleteHidden`, or is there again after `unhide`. */
export function hide(id: string): void {
  hidden.add(id)
  set({ entries: threads.entries.filter((entry) => entry.id !== id) })
}

export function unhide(id: string): Promise<void> {
  hidden.delete(id)
  return refreshThreads()
}

export async function deleteHidden(id: string): Promise<void> {
  await requestDeletion(id)
  hidden.delete(id)
  await threadsChanged()
}

/** It outlives the page. A thread that is gone already is as good as deleted. */
const requestDeletion = (id: string): Promise<Response> =>
  fetch(`${apiUrl}/threads/${encodeURIComponent(id)}`, { method: 'DELETE', keepalive: true })

/** Keeps the list up to date while the page is in sight. Returns what ends that. */
export function watchThreads(): () => void {
  let isReading = false
  const read = async (): Promise<void> => {
    if (isReading || document.hidden) return
    isReading = true
    await refreshThreads().catch(console.warn)
    isReading = false
  }
  const leave = (): void => {
    for (const id of hidden) void requestDeletion(id)
  }
  const timer = setInterval(read, POLL_MS)
  channel?.addEventListener('message', read)
  document.addEventListener('visibilitychange', read)
  addEventListener('pagehide', leave)
  void read()
  return () => {
    clearInterval(timer)
    channel?.removeEventListener('message', read)
    document.removeEventListener('visibilitychange', read)
    removeEventListener('pagehide', leave)
  }
}
