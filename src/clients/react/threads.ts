import { type Observable, observable } from './observable.ts'
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

interface State {
  readonly requests: ThreadRequests
  readonly known: Observable<Known>
  readonly watched: Map<string, number>
  /** Threads whose removal can still be undone. */
  readonly hidden: Set<string>
  wanted: number
  /** Open only while the list is shown, because an open channel keeps a Node process alive. */
  channel: BroadcastChannel | undefined
}

/**
 * `name` is the name of the channel that notifies the browser's other tabs of changes. Other browsers see
 * them with their next poll.
 */
export function createThreadStore(requests: ThreadRequests, name: string): ThreadStore {
  const first: Known = { entries: [], isLoaded: false, hasMore: false, others: new Map() }
  const known = observable(first, () => follow(state, name))
  const state: State = {
    requests,
    known,
    watched: new Map(),
    hidden: new Set(),
    wanted: PAGE,
    channel: undefined,
  }
  return {
    get: known.get,
    subscribe: known.subscribe,
    entryOf: (id) => entryOf(state, id),
    refresh: () => refresh(state),
    changed: () => changed(state),
    watch: (id) => watch(state, id),
    loadMore(all) {
      state.wanted = all ? MOST : Math.min(state.wanted + PAGE, MOST)
      return refresh(state)
    },
    rename: (id, title) => rename(state, id, title),
    remove: (id) => remove(state, id),
    stop: requests.cancel,
  }
}

const set = ({ known }: State, change: Partial<Known>): void => known.set({ ...known.get(), ...change })

const shown = ({ hidden }: State, entries: readonly ThreadEntry[]) =>
  entries.filter(({ id }) => !hidden.has(id))

const entryOf = ({ known }: State, id: string): ThreadEntry | null | undefined =>
  known.get().entries.find((entry) => entry.id === id) ?? known.get().others.get(id)

async function refresh(state: State): Promise<void> {
  const { requests, watched, wanted } = state
  const found = await requests.find({ limit: wanted })
  const listed = new Set(found.map(({ id }) => id))
  const ids = [...watched.keys()].filter((id) => !listed.has(id))
  const others = new Map<string, ThreadEntry | null>(ids.map((id) => [id, null]))
  if (ids.length > 0) for (const entry of await requests.find({ ids })) others.set(entry.id, entry)
  set(state, {
    entries: shown(state, found),
    isLoaded: true,
    hasMore: found.length >= state.wanted && state.wanted < MOST,
    others,
    error: undefined,
  })
}

async function changed(state: State): Promise<void> {
  await refresh(state)
  state.channel?.postMessage('changed')
}

/** Keeps the list up to date while the page is visible. */
function follow(state: State, name: string): () => void {
  let isReading = false
  const read = async (): Promise<void> => {
    if (isReading || document.hidden) return
    isReading = true
    await refresh(state).catch((error: Error) => set(state, { error }))
    isReading = false
  }
  const leave = (): void => {
    for (const id of state.hidden) state.requests.remove(id).catch(console.warn)
  }
  const timer = setInterval(read, POLL_MS)
  const channel = new BroadcastChannel(name)
  state.channel = channel
  channel.addEventListener('message', read)
  document.addEventListener('visibilitychange', read)
  addEventListener('pagehide', leave)
  void read()
  return () => {
    clearInterval(timer)
    channel.close()
    state.channel = undefined
    document.removeEventListener('visibilitychange', read)
    removeEventListener('pagehide', leave)
  }
}

function watch(state: State, id: string): () => void {
  const { watched, known } = state
  watched.set(id, (watched.get(id) ?? 0) + 1)
  if (known.get().isLoaded && entryOf(state, id) === undefined) refresh(state).catch(console.warn)
  return () => {
    const left = watched.get(id)! - 1
    if (left > 0) watched.set(id, left)
    else watched.delete(id)
  }
}

async function rename(state: State, id: string, title: string): Promise<void> {
  const { entries, others } = state.known.get()
  const other = others.get(id)
  set(state, {
    entries: entries.map((entry) => (entry.id === id ? { ...entry, title } : entry)),
    ...(other && { others: new Map(others).set(id, { ...other, title }) }),
  })
  await state.requests.rename(id, title)
  await changed(state)
}

function remove(state: State, id: string): Removal {
  const { hidden, known, requests } = state
  hidden.add(id)
  set(state, { entries: shown(state, known.get().entries) })
  const undo = (): Promise<void> => {
    hidden.delete(id)
    return refresh(state)
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
      await changed(state)
    },
  }
}

/** The entries whose title contains every word of the query, ignoring case. */
export function searchThreads(entries: readonly ThreadEntry[], query: string): readonly ThreadEntry[] {
  const words = query.toLowerCase().split(/\s+/)
  return entries.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
}
