import assert from 'node:assert/strict'

// #region retention
import { postgresStorage } from 'agentwire/postgres'

export const storage = postgresStorage({
  url: process.env.DATABASE_URL,
  maxAgeMs: 7 * 24 * 3_600_000, // a week
  maxThreadBytes: 16 * 1024 * 1024,
})
// #endregion

assert.equal(typeof storage.store.sweep, 'function')
await storage.close()
