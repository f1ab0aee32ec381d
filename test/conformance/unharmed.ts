import { expect } from 'vitest'
import { turns } from '../kit/wait.ts'

const GLOBALS = [
  'Request',
  'Response',
  'Headers',
  'fetch',
  'ReadableStream',
  'AbortController',
  'URL',
] as const

/** Runs a check and expects that it leaves no stray rejection, no warning and no replaced global in the process. */
export async function unharmed(run: () => Promise<void>): Promise<void> {
  const before = GLOBALS.map((name) => globalThis[name])
  const marks: string[] = []
  const mark = (error: unknown) => marks.push(String(error))
  process.on('unhandledRejection', mark)
  process.on('uncaughtException', mark)
  process.on('warning', mark)
  try {
    await run()
    // Rejections and warnings are emitted one turn later.
    await turns()
  } finally {
    process.off('unhandledRejection', mark)
    process.off('uncaughtException', mark)
    process.off('warning', mark)
  }
  expect(marks).toEqual([])
  expect(GLOBALS.filter((name, at) => globalThis[name] !== before[at])).toEqual([])
}
