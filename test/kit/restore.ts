import { afterAll, vi } from 'vitest'

/** The files of a worker share its process. What they replace in it ends with them. */
const { Request, Response } = globalThis

afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  // Hono's server for Node puts classes of its own in their place.
  Object.assign(globalThis, { Request, Response })
})
