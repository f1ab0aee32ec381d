import type { Sender } from './send.ts'

/** Sends requests with `fetch`, on runtimes whose `fetch` cannot reach private networks. */
export const fetchSender: Sender = {
  async send({ url, headers, body, signal, maxResponseBytes }) {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    try {
      let size = 0
      const reader = response.body?.getReader()
      for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
        size += next.value.length
        if (size > maxResponseBytes) await reader?.cancel()
      }
    } catch {} // The status has decided.
    return { status: response.status, retryAfter: response.headers.get('retry-after') }
  },
}
