import { afterAll, vi } from 'vitest'

/** All files of a worker share its process, so what one file replaces is put back after it. */
const { Request, Response } = globalThis

afterAll(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  // Hono's server for Node replaces them with classes of its own.
  Object.assign(globalThis, { Request, Response })
})
