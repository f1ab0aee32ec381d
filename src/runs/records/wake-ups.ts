import { startTimer } from '../../time.ts'

/** Threads that are looked at again after a time. */
export interface WakeUps {
  /** Replaces the time that was set before. */
  set(threadId: string, inMs: number): void
  close(): void
}

/** A longer timer would fire at once. The periodic look of an instance sets such a time again. */
const MAX_TIMER_MS = 2_147_483_647

/** Does not keep the process alive. */
export function createWakeUps(wake: (threadId: string) => void): WakeUps {
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  return {
    set(threadId, inMs) {
      clearTimeout(timers.get(threadId))
      timers.delete(threadId)
      if (inMs > MAX_TIMER_MS) return
      const timer = startTimer(Math.max(1, Math.ceil(inMs)), () => {
        timers.delete(threadId)
        wake(threadId)
      })
      timers.set(threadId, timer)
    },
    close() {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
