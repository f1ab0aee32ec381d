import type { FirstState } from 'agentwire/react'
import { headers } from 'next/headers'
import { server } from './server.ts'

/** The length of a state as JSON above which the page reads it itself: the HTML would have it twice. */
const LONGEST = 500_000

/**
 * The state of a thread with the running answer as far as it is written, for the HTML of the page. The request
 * has the caller's credentials, so it reads what the page may read. Undefined if that fails: the page then
 * reads the thread itself, and says what is wrong.
 */
export async function readFirstState(threadId: string): Promise<FirstState | undefined> {
  const sent = await headers()
  const own = ['authorization', 'cookie'].flatMap((name): [string, string][] => {
    const value = sent.get(name)
    return value === null ? [] : [[name, value]]
  })
  const url = `http://localhost/threads/${encodeURIComponent(threadId)}/state?streamed=true&select=values,next,tasks`
  try {
    const response = await server.fetch(new Request(url, { headers: own }))
    const text = await response.text()
    // A file of the page's own origin is shown, and only a browser knows that origin.
    const isOfPage = text.includes(`://${sent.get('host')}/`)
    return response.ok && text.length <= LONGEST && !isOfPage ? JSON.parse(text) : undefined
  } catch (error) {
    console.warn('The HTML of a page was made without its thread.', error)
    return undefined
  }
}
