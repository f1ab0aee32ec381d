/**
 * The Agent Streaming Protocol as this page speaks it: commands by POST, events by a stream that stays open.
 * @typedef {{ type: 'event', event_id: string, seq: number, method: string, params: { namespace: string[], node?: string, data: any } }} ProtocolEvent
 */

const CHANNELS = ['values', 'messages', 'tools', 'lifecycle', 'input']

let commandId = 0

/** @param {string} threadId */
const threadUrl = (threadId) => `/threads/${encodeURIComponent(threadId)}`

/**
 * Sends a command and gives its result. Protocol errors arrive with status 200.
 * @param {string} threadId @param {string} method @param {object} params
 * @returns {Promise<{ run_id?: string }>}
 */
export async function command(threadId, method, params) {
  const answer = await request(`${threadUrl(threadId)}/commands`, { id: ++commandId, method, params })
  const body = await answer.json()
  if (body.type === 'error') throw new Error(body.message)
  return body.result
}

/** @returns {Promise<{ id: string, title: string | null, updatedAt: string | null }[]>} */
export async function listThreads() {
  return (await request('/threads')).json()
}

/** @param {string} threadId */
export async function deleteThread(threadId) {
  await request(threadUrl(threadId), undefined, 'DELETE')
}

/**
 * The record and the state of a thread, or undefined when there is none.
 * @param {string} threadId
 */
export async function loadThread(threadId) {
  const [record, state] = await Promise.all(
    [threadUrl(threadId), `${threadUrl(threadId)}/state`].map((url) => fetch(url)),
  )
  if (record?.status === 404 || state?.status === 404) return undefined
  if (!record?.ok || !state?.ok) throw new Error('The thread could not be loaded.')
  return { record: await record.json(), state: await state.json() }
}

/** @param {string} threadId @param {string} runId */
export async function cancelRun(threadId, runId) {
  await request(
    `${threadUrl(threadId)}/runs/${encodeURIComponent(runId)}/cancel?wait=0&action=interrupt`,
    null,
  )
}

/**
 * Delivers every event of a thread, and reconnects after a lost connection with the number of the last event it saw. Ends when the
 * signal aborts.
 * @param {string} threadId
 * @param {{ signal: AbortSignal, onEvent: (event: ProtocolEvent) => void, onConnection: (connected: boolean) => void }} options
 */
export async function follow(threadId, { signal, onEvent, onConnection }) {
  /** @type {number | undefined} */
  let since
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const body = JSON.stringify({ channels: CHANNELS, since })
      const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
      const response = await fetch(`${threadUrl(threadId)}/stream`, { method: 'POST', headers, body, signal })
      if (!response.ok || response.body === null) throw new Error(`The stream answered ${response.status}.`)
      onConnection(true)
      attempt = 0
      for await (const event of readEvents(response.body)) {
        since = event.seq
        onEvent(event)
      }
    } catch (error) {
      if (!signal.aborted) console.warn(error)
    }
    if (signal.aborted) return
    onConnection(false)
    await pause(Math.min(500 * 2 ** attempt, 5_000), signal)
  }
}

/**
 * The events of a server-sent stream. Fields other than `data` repeat what the event says of itself.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<ProtocolEvent>}
 */
export async function* readEvents(body) {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let data = ''
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      rest += decoder.decode(step.value, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines.map((text) => text.replace(/\r$/, ''))) {
        if (line.startsWith('data:')) data += line.slice(5).trimStart()
        if (line !== '' || data === '') continue
        const event = JSON.parse(data)
        data = ''
        if (event.type === 'event') yield event
      }
    }
  } finally {
    await reader.cancel()
  }
}

/**
 * @param {string} url @param {unknown} [body] @param {string} [method]
 * @returns {Promise<Response>}
 */
async function request(url, body, method = body === undefined ? 'GET' : 'POST') {
  const json =
    body === undefined || body === null
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(url, { method, ...json })
  if (response.ok) return response
  const problem = await response.json().catch(() => ({}))
  throw new Error(problem.message ?? `The server answered ${response.status}.`)
}

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
