import { observable } from './observable.ts'
import type { ThreadEntry, ThreadRequests } from './requests.ts'

export interface ThreadList {
  /** Newest first, without threads that are being removed. */
  readonly entries: readonly ThreadEntry[]
  /** False before the server's first response. */
  readonly isLoaded: boolean
  readonly hasMore: boolean
  /** Why the last read of the list failed. Undefined when it succeeded, and while the server is away. */
  readonly error?: Error | undefined
}

/** A thread that is hidden from the list. It can be restored until `finish` is called or the page closes. */
export interface Removal {
  undo(): Promise<void>
  /** Deletes the thread. If the server rejects the deletion, the thread reappears and this rejects. */
  finish(): Promise<void>
}

/** The user's threads: one list for the whole page. It is refreshed while something on the page shows it. */
export interface ThreadStore {
  get(): ThreadList
  subscribe(listener: () => void): () => void
  /**
   * A list entry, or a watched thread that is not in the list. Null if the server has no such thread,
   * undefined before the first response.
   */
  entryOf(id: string): ThreadEntry | null | undefined
  /** Also loads this thread if it is not in the list. Returns a function that stops watching. */
  watch(id: string): () => void
  refresh(): Promise<void>
  /** Call it after a change on this page. The lists of this page and of other tabs are refreshed. */
  changed(): Promise<void>
  /** Loads one more page, or with `'all'` every page, for a search. */
  loadMore(all?: 'all'): Promise<void>
  /**
   * Rejects with an error with the response's `status` if the server rejects the request. `stop` and the
   * other methods do the same.
   */
  rename(id: string, title: string): Promise<void>
  remove(id: string): Removal
  /** Cancels all runs of a thread, whichever client started them. */
  stop(id: string): Promise<void>
}

const PAGE = 50
const MOST = 1_000
const POLL_MS = 5_000

interface Known extends ThreadList {
  /** Watched threads that are not in the list. */
  readonly others: ReadonlyMap<string, ThreadEntry | null>
}

/**
 * `name` is the name of the channel that notifies the browser's other tabs of changes. Other browsers see
 * them with their next poll.
 */
export function createThreadStore(requests: ThreadRequests, name: string): ThreadStore {
  const known = observable<Known>({ entries: [], isLoaded: false, hasMore: false, others: new Map() }, follow)
  const watched = new Map<string, number>()
  /** Threads whose removal can still be undone. */
  const hidden = new Set<string>()
  /** Titles that the server may not have yet. */
  const renamed = new Map<string, string>()
  let wanted = PAGE
  /** The number of reads of the list. An answer that comes after a later read began is out of date. */
  let reads = 0
  /** Open only while the list is shown, because an open channel keeps a Node process alive. */
  let channel: BroadcastChannel | undefined

  const set = (change: Partial<Known>): void => known.set({ ...known.get(), ...change })
  const withTitle = (entry: ThreadEntry): ThreadEntry => {
    const title = renamed.get(entry.id)
    return title === undefined ? entry : { ...entry, title }
  }
  const shown = (entries: readonly ThreadEntry[]) =>
    entries.filter(({ id }) => !hidden.has(id)).map(withTitle)
  const entryOf = (id: string): ThreadEntry | null | undefined =>
    known.get().entries.find((entry) => entry.id === id) ?? known.get().others.get(id)

  async function refresh(): Promise<void> {
    const limit = wanted
    const read = ++reads
    const found = await requests.find({ limit })
    const listed = new Set(found.map(({ id }) => id))
    const ids = [...watched.keys()].filter((id) => !listed.has(id))
    const others = new Map<string, ThreadEntry | null>(ids.map((id) => [id, null]))
    if (ids.length > 0)
      for (const entry of await requests.find({ ids })) others.set(entry.id, withTitle(entry))
    if (read !== reads) return
    set({
      entries: shown(found),
      isLoaded: true,
      hasMore: found.length >= limit && limit < MOST,
      others,
      error: undefined,
    })
  }
  async function changed(): Promise<void> {
    await refresh()
    channel?.postMessage('changed')
  }

  /** Keeps the list up to date while the page is visible. */
  function follow(): () => void {
    let isReading = false
    const read = async (): Promise<void> => {
      if (document.hidden) return
      const own = reads + 1
      await refresh().catch((error: Error) => own === reads && set({ error }))
    }
    // A server that takes longer than the pause between two reads is not asked twice at once.
    const poll = async (): Promise<void> => {
      if (isReading) return
      isReading = true
      await read()
      isReading = false
    }
    const leave = (): void => {
      for (const id of hidden) requests.remove(id).catch(console.warn)
    }
    const timer = setInterval(poll, POLL_MS)
    const own = new BroadcastChannel(name)
    channel = own
    own.addEventListener('message', read)
    document.addEventListener('visibilitychange', read)
    addEventListener('pagehide', leave)
    void poll()
    return () => {
      clearInterval(timer)
      own.close()
      channel = undefined
      document.removeEventListener('visibilitychange', read)
      removeEventListener('pagehide', leave)
    }
  }
  return {
    get: known.get,
    subscribe: known.subscribe,
    entryOf,
    refresh,
    changed,
    watch(id) {
      watched.set(id, (watched.get(id) ?? 0) + 1)
      if (known.get().isLoaded && entryOf(id) === undefined) refresh().catch(console.warn)
      return () => {
        const left = watched.get(id)! - 1
        if (left > 0) watched.set(id, left)
        else watched.delete(id)
      }
    },
    loadMore(all) {
      wanted = all ? MOST : Math.min(wanted + PAGE, MOST)
      return refresh()
    },
    async rename(id, title) {
      renamed.set(id, title)
      const { entries, others } = known.get()
      const other = others.get(id)
      set({
        entries: entries.map(withTitle),
        ...(other && { others: new Map(others).set(id, withTitle(other)) }),
      })
      const settle = (): Promise<void> => {
        if (renamed.get(id) === title) renamed.delete(id)
        return changed()
      }
      try {
        await requests.rename(id, title)
      } catch (error) {
        await settle().catch(console.warn)
        throw error
      }
      await settle()
    },
    remove(id) {
      hidden.add(id)
      set({ entries: shown(known.get().entries) })
      const undo = (): Promise<void> => {
        hidden.delete(id)
        return refresh()
      }
      return {
        undo,
        async finish() {
          try {
            await requests.remove(id)
          } catch (error) {
            await undo().catch(console.warn)
            throw error
          }
          hidden.delete(id)
          await changed()
        },
      }
    },
    stop: requests.cancel,
  }
}

/** The entries whose title contains every word of the query, ignoring case. */
export function searchThreads(entries: readonly ThreadEntry[], query: string): readonly ThreadEntry[] {
  const words = query.toLowerCase().split(/\s+/)
  return entries.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
}
