import type { WebHandler } from '../../core/http/index.ts'

/** Where LangGraph SDK clients that were created without a URL find the server in their process. */
const FETCH = Symbol.for('langgraph_api:fetch')
const URL_OF_SERVER = Symbol.for('langgraph_api:url')

interface Loopback {
  [FETCH]?: typeof fetch | undefined
  [URL_OF_SERVER]?: string | undefined
}

/**
 * Lets project code call this server with `new Client()`, without the network. Returns a function that ends
 * this.
 */
export function bindLoopback(handler: WebHandler, url: string): () => void {
  const places = globalThis as Loopback
  const loopback: typeof fetch = (input, init) =>
    handler.fetch(new Request(input, init), { signal: init?.signal ?? undefined })
  places[FETCH] = loopback
  places[URL_OF_SERVER] = url
  return () => {
    // Another server in this process may have taken its place.
    if (places[FETCH] !== loopback) return
    delete places[FETCH]
    delete places[URL_OF_SERVER]
  }
}
