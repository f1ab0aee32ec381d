import type { Answer, Sender } from './send.ts'

/** Sends requests with `fetch`, on runtimes whose `fetch` cannot reach private networks. */
export const fetchSender: Sender = {
  async send({ url, method, headers, body, keepsBody, signal, maxResponseBytes }) {
    const content = method === 'GET' ? {} : { body }
    const response = await fetch(url, { method, headers, ...content, redirect: 'manual', signal })
    const kept: Uint8Array[] = []
    let ending: Answer['ending'] = 'whole'
    try {
      let size = 0
      const reader = response.body?.getReader()
      for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
        size += next.value.length
        if (size > maxResponseBytes) {
          ending = 'too_large'
          await reader?.cancel()
        } else if (keepsBody) kept.push(next.value)
      }
    } catch {
      ending = 'broken' // The status is sufficient for callers that do not need the body.
    }
    const { status, headers: answered } = response
    const [retryAfter, contentType] = [answered.get('retry-after'), answered.get('content-type')]
    return { status, retryAfter, contentType, body: kept, ending }
  },
}
