import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { backoff } from '../../../../core/time.ts'
import { ApiError, ask, getConnection, onConnection } from './api.ts'

/** What was asked for, and why the newest attempt to get it failed. */
export interface Loaded<T> {
  readonly data: T | undefined
  readonly error: ApiError | undefined
  /** Asks again at once. */
  refresh(): void
}

/** While nothing answers the pause grows up to this, in milliseconds. */
const MAX_PAUSE_MS = 10_000

/** Asks again and again while the page is seen. A hidden page asks nothing. */
export function usePolled<T>(path: string | undefined, everyMs: number): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'refresh'> & { path?: string | undefined }>({
    data: undefined,
    error: undefined,
  })
  const again = useRef(() => {})
  useEffect(() => {
    if (path === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let stopped = false
    let failures = 0
    let asking = false
    async function poll(): Promise<void> {
      clearTimeout(timer)
      if (stopped || asking || document.hidden) return
      asking = true
      try {
        const data = await ask<T>(path!)
        failures = 0
        if (!stopped) setState({ data, error: undefined, path })
      } catch (error) {
        failures += 1
        // The last answer stays in sight while the server is away.
        if (!stopped)
          setState((old) => ({
            ...(old.path === path ? old : { data: undefined }),
            error: toApiError(error),
            path,
          }))
      }
      asking = false
      if (!stopped) timer = setTimeout(poll, failures === 0 ? everyMs : backoff(failures, 500, MAX_PAUSE_MS))
    }
    const onSeen = () => void poll()
    again.current = onSeen
    document.addEventListener('visibilitychange', onSeen)
    void poll()
    return () => {
      stopped = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onSeen)
    }
  }, [path, everyMs])
  const refresh = useRef(() => again.current()).current
  return state.path === path || state.path === undefined
    ? { ...state, refresh }
    : { data: undefined, error: undefined, refresh }
}

/** Asks once, and again when `again` changes. What was known stays until the new answer is there. */
export function useAsked<T>(path: string | undefined, again = 0) {
  const [state, setState] = useState<{ path?: string; data?: T; error?: ApiError }>({})
  // biome-ignore lint/correctness/useExhaustiveDependencies: `again` says when
  useEffect(() => {
    if (path === undefined) return
    let isCurrent = true
    ask<T>(path).then(
      (data) => isCurrent && setState({ path, data }),
      (error) => isCurrent && setState({ path, error: toApiError(error) }),
    )
    return () => {
      isCurrent = false
    }
  }, [path, again])
  return state.path === path ? state : {}
}

export const toApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(0, String((error as Error).message ?? error))

/** Renders again when the server goes away or comes back. */
export function useConnection() {
  const [, render] = useState(0)
  useEffect(() => onConnection(() => render((count) => count + 1)), [])
  return getConnection()
}

/** The time, every second while `isOn`, for what counts up. */
export function useNow(isOn: boolean): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    if (!isOn) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [isOn])
  return now
}

/** The part of the page behind the `#`, such as `/threads/a/log`. */
export function useRoute(): readonly string[] {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const onChange = () => setHash(location.hash)
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return hash
    .replace(/^#\/?/, '')
    .split('/')
    .filter((part) => part !== '')
    .map(decoded)
}

/** An address that somebody has changed by hand may be malformed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const routeTo = (...parts: readonly string[]): string => `#/${parts.map(encodeURIComponent).join('/')}`

export function go(...parts: readonly string[]): void {
  location.hash = routeTo(...parts)
}

/** Replaces the address for a selection, so that the browser's Back button leaves the view. */
export function select(...parts: readonly string[]): void {
  location.replace(routeTo(...parts))
}

/** A key, as `KeyboardEvent.key` names it, and what it does. */
export type KeyAction = readonly [key: string, action: () => void]

/** What each part of the page does with a key. The part that came last is asked first. */
const parts: { current: readonly KeyAction[] }[] = []

/** Keys of a part of the page, for as long as it is shown. */
export function useKeys(keys: readonly KeyAction[]): void {
  const part = useRef(keys)
  part.current = keys
  // An ordinary effect is undone only after the next frame: until then a key would go to a part that is gone.
  useLayoutEffect(() => {
    parts.push(part)
    return () => void parts.splice(parts.indexOf(part), 1)
  }, [])
}

/** The keys that move the selection of a list: to its start where nothing is selected. */
export const moveKeys = <Item>(
  list: readonly Item[],
  selected: number,
  select: (item: Item) => void,
): readonly KeyAction[] => {
  const move = (by: number) => () => {
    const next = list[selected < 0 ? 0 : Math.min(list.length - 1, Math.max(0, selected + by))]
    if (next !== undefined) select(next)
  }
  return [
    ['j', move(1)],
    ['k', move(-1)],
  ]
}

const ARROWS: Readonly<Record<string, string>> = { ArrowDown: 'j', ArrowUp: 'k' }

/** In a list that has the focus, the arrow keys do what `j` and `k` do everywhere. */
export const arrowKeys =
  (keys: readonly KeyAction[]) =>
  (event: KeyboardEvent): void => {
    const action = keys.find(([key]) => key === ARROWS[event.key])?.[1]
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    action()
  }

/** Gives keys to the parts of the page, but for those that are typed into a field, which Escape leaves. */
export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.target as HTMLElement
    const isField = target.matches?.('input, textarea, select') ?? false
    if (isField) return event.key === 'Escape' ? target.blur() : undefined
    const action = parts
      .toReversed()
      .flatMap(({ current }) => current)
      .find(([key]) => key === event.key)?.[1]
    if (!action) return
    event.preventDefault()
    action()
  })
}
