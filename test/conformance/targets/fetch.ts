import { withoutBody } from '../../../adapters/without-body.ts'
import type { AdapterTarget } from '../../../src/audit/index.ts'

/** The handler without adapter and socket, as on Workers, Bun and Deno. It also checks the audits themselves. */
export const inProcess: AdapterTarget = {
  name: 'fetch',
  can: ['own-bodies', 'drain', 'own-url', 'length', 'options', 'disconnect', 'early-headers'],
  async start(handler) {
    return {
      origin: 'http://in-process.example',
      async fetch(input, init) {
        const request = new Request(input, init)
        const answer = handler.fetch(request)
        if (request.method === 'HEAD') return withoutBody(await answer)
        return init?.signal ? leavable(answer, init.signal) : answer
      },
      close: handler.close,
    }
  },
}

/** Does what a server does when a client leaves: it no longer waits for the answer and cancels its body. */
function leavable(answer: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    let leave = () => reject(signal.reason)
    signal.addEventListener('abort', () => leave())
    answer.then((response) => {
      const reader = response.body!.getReader()
      // A handler that watches the signal has already broken its stream.
      leave = () => void reader.cancel(signal.reason).catch(() => {})
      if (signal.aborted) return leave()
      const body = new ReadableStream({
        async pull(controller) {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        },
      })
      resolve(new Response(body, response))
    }, reject)
  })
}
