import { useEffect, useRef, useState } from 'react'

/** A shorter time was not measured: a replayed stream delivers the start and the end at once. */
const LEAST_MS = 100

/** How long something took that this page has seen start and end, as text. Undefined until it has ended. */
export function useElapsed(isGoing: boolean): string | undefined {
  const since = useRef<number>(undefined)
  const [elapsed, setElapsed] = useState<string>()
  useEffect(() => {
    if (isGoing) {
      since.current ??= performance.now()
    } else if (since.current !== undefined) {
      const ms = performance.now() - since.current
      if (ms >= LEAST_MS) setElapsed(inWords(ms))
      since.current = undefined
    }
  }, [isGoing])
  return isGoing ? undefined : elapsed
}

/** 4200 as “4.2 s”, 95000 as “1 min 35 s”. */
export function inWords(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
