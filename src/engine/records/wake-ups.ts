import { startTimer } from '../../core/time.ts'

/** Threads that are checked again after a time. */
export interface WakeUps {
  /** Replaces an earlier time. */
  set(threadId: string, inMs: number): void
  close(): void
}

/** A longer timer would fire immediately. The periodic check of an instance sets such a time again. */
const MAX_TIMER_MS = 2_147_483_647

/** Its timers do not keep the process alive. */
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
