import { closed } from '../errors.ts'

export type Gate = ReturnType<typeof createGate>

/** Counts the calls of a database that are under way, so that it can be closed behind them. */
export function createGate() {
  let isClosed = false
  let underWay = 0
  let allEnded = () => {}

  return {
    isClosed: () => isClosed,
    assertOpen(): void {
      if (isClosed) throw closed()
    },
    /** Each call that enters leaves once. */
    enter(): void {
      underWay += 1
    },
    leave(): void {
      underWay -= 1
      if (underWay === 0) allEnded()
    },
    /** Refuses further calls, and resolves when those under way have ended. */
    close(): Promise<void> {
      isClosed = true
      if (underWay === 0) return Promise.resolve()
      return new Promise((resolve) => {
        allEnded = resolve
      })
    },
  }
}
