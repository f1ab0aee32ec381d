import { observable } from './observable.ts'
import type { ThreadEntry, ThreadRequests } from './requests.ts'

export interface ThreadList {
  /** Newest first, without those that are being removed. */
  readonly entries: readonly ThreadEntry[]
  /** False before the first answer of the server. */
  readonly isLoaded: boolean
  readonly hasMore: boolean
}

/** A thread that is out of the list, and can come back until `finish` is called or the page is left. */
export interface Removal {
  undo(): Promise<void>
  /** Deletes the thread. Where the server refuses, it comes back and this rejects. */
  finish(): Promise<void>
}

/** The threads of the user: one list for all of a page, which is read again while something on the page shows it. */
export interface ThreadStore {
  get(): ThreadList
  subscribe(listener: () => void): () => void
  /** An entry of the list, or a thread beyond it that is watched. Null where the server has none of this id, undefined before it was asked. */
  entryOf(id: string): ThreadEntry | null | undefined
  /** Reads this thread too, also where the list does not reach so far. Returns what ends that. */
  watch(id: string): () => void
  refresh(): Promise<void>
  /** Something has changed on this page: its list and those of the other tabs are read again. */
  changed(): Promise<void>
  /** Reads one page more, or all that a search looks through. */
  loadMore(all?: 'all'): Promise<void>
  /** Rejects with an error that has the `status` where the server refuses, as `stop` does and the others. */
  rename(id: string, title: string): Promise<void>
  remove(id: string): Removal
  /** Stops what the agent does for a thread, whoever has started it. */
  stop(id: string): Promise<void>
}

const PAGE = 50
const MOST = 1_000
const POLL_MS = 5_000

interface Known extends ThreadList {
  /** The watched threads that are not in the list. */
  readonly others: ReadonlyMap<string, ThreadEntry | null>
}

/** `name` is that of the channel by which the tabs of a browser tell each other of changes. Other browsers see them with their next poll. */
export function createThreadStore(requests: ThreadRequests, name: string): ThreadStore {
  const known = observable<Known>({ entries: [], isLoaded: false, hasMore: false, others: new Map() }, follow)
  const watched = new Map<string, number>()
  /** Threads whose removal can still be undone. */
  const hidden = new Set<string>()
  let wanted = PAGE
  /** Open while the list is shown: an open one keeps a process of Node alive. */
  let channel: BroadcastChannel | undefined

  const set = (change: Partial<Known>): void => known.set({ ...known.get(), ...change })
  const shown = (entries: readonly ThreadEntry[]) => entries.filter(({ id }) => !hidden.has(id))
  const entryOf = (id: string): ThreadEntry | null | undefined =>
    known.get().entries.find((entry) => entry.id === id) ?? known.get().others.get(id)

  async function refresh(): Promise<void> {
    const found = await requests.find({ limit: wanted })
    const listed = new Set(found.map(({ id }) => id))
    const ids = [...watched.keys()].filter((id) => !listed.has(id))
    const others = new Map<string, ThreadEntry | null>(ids.map((id) => [id, null]))
    if (ids.length > 0) for (const entry of await requests.find({ ids })) others.set(entry.id, entry)
    set({
      entries: shown(found),
      isLoaded: true,
      hasMore: found.length >= wanted && wanted < MOST,
      others,
    })
  }
  async function changed(): Promise<void> {
    await refresh()
    channel?.postMessage('changed')
  }

  /** Keeps the list up to date while the page is in sight. */
  function follow(): () => void {
    let isReading = false
    const read = async (): Promise<void> => {
      if (isReading || document.hidden) return
      isReading = true
      await refresh().catch(console.warn)
      isReading = false
    }
    const leave = (): void => {
      for (const id of hidden) requests.remove(id).catch(console.warn)
    }
    const timer = setInterval(read, POLL_MS)
    const own = new BroadcastChannel(name)
    channel = own
    own.addEventListener('message', read)
    document.addEventListener('visibilitychange', read)
    addEventListener('pagehide', leave)
    void read()
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
      const { entries, others } = known.get()
      const other = others.get(id)
      set({
        entries: entries.map((entry) => (entry.id === id ? { ...entry, title } : entry)),
        ...(other && { others: new Map(others).set(id, { ...other, title }) }),
      })
      await requests.rename(id, title)
      await changed()
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
            await undo()
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

/** The entries whose title has every word of the query, or the beginning of it. */
export function searchThreads(entries: readonly ThreadEntry[], query: string): readonly ThreadEntry[] {
  const words = query.toLowerCase().split(/\s+/)
  return entries.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
}
