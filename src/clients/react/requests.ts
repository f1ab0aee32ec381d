/** A thread as a list entry. */
export interface ThreadEntry {
  readonly id: string
  /**
   * The title that `rename` set, otherwise the first words of the first message. Empty before there is a
   * message.
   */
  readonly title: string
  readonly updatedAt: Date
  /**
   * `busy` while a run is active, `interrupted` while the agent waits for a response, `error` if the last run
   * failed.
   */
  readonly status: 'idle' | 'busy' | 'interrupted' | 'error'
  /** Undefined before the first run. */
  readonly assistantId: string | undefined
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface ThreadRequests {
  find(query: { readonly ids?: readonly string[]; readonly limit?: number }): Promise<readonly ThreadEntry[]>
  rename(id: string, title: string): Promise<void>
  /** The request outlives the page. A thread that does not exist counts as deleted. */
  remove(id: string): Promise<void>
  /**
   * Cancels all runs of a thread, whichever client started them. The thread may not exist on the server yet.
   */
  cancel(id: string): Promise<void>
}

/** Browsers limit the bodies of requests that outlive a page to 64 KiB. */
const MOST_LASTING = 60_000

interface RequestOptions {
  readonly body?: object
  /** Whether the request outlives the page, unless its body is too large for that. */
  readonly isLasting?: boolean
  /** 404 is no error. */
  readonly mayBeMissing?: boolean
}

/** Sends requests to a server. An error response rejects with its message and `status`. */
export const requester =
  (apiUrl: string, send: typeof fetch) =>
  async (
    method: string,
    path: string,
    { body, isLasting = false, mayBeMissing = false }: RequestOptions = {},
  ): Promise<Response> => {
    const text = body && JSON.stringify(body)
    const response = await send(`${apiUrl}${path}`, {
      method,
      ...(text && { headers: { 'content-type': 'application/json' }, body: text }),
      keepalive: isLasting && (text ?? '').length < MOST_LASTING,
    })
    if (response.ok || (mayBeMissing && response.status === 404)) return response
    throw Object.assign(new Error(await wordsOf(response)), { status: response.status })
  }

export const threadPath = (id: string): string => `/threads/${encodeURIComponent(id)}`

export function threadRequests(apiUrl: string, send: typeof fetch): ThreadRequests {
  const request = requester(apiUrl, send)
  return {
    async find(query) {
      // These fields do not read any state, so a page of threads is cheap.
      const select = ['thread_id', 'updated_at', 'status', 'metadata']
      const response = await request('POST', '/threads/search', { body: { ...query, select } })
      return ((await response.json()) as WireThread[]).map(entryOf)
    },
    async rename(id, title) {
      await request('PATCH', threadPath(id), { body: { metadata: { title } } })
    },
    async remove(id) {
      await request('DELETE', threadPath(id), { isLasting: true, mayBeMissing: true })
    },
    async cancel(id) {
      await request('POST', '/runs/cancel', {
        body: { thread_id: id, status: 'running' },
        mayBeMissing: true,
      })
    },
  }
}

interface WireThread {
  readonly thread_id: string
  readonly updated_at: string
  readonly status: ThreadEntry['status']
  readonly metadata?: Readonly<Record<string, unknown>> | null
}

function entryOf({ thread_id, updated_at, status, metadata }: WireThread): ThreadEntry {
  const { title, assistant_id } = metadata ?? {}
  return {
    id: thread_id,
    title: typeof title === 'string' ? title : '',
    updatedAt: new Date(updated_at),
    status,
    assistantId: typeof assistant_id === 'string' ? assistant_id : undefined,
    metadata: metadata ?? {},
  }
}

/** The server's error message, if it sent one. */
async function wordsOf(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { message, detail } = JSON.parse(text) as { readonly message?: unknown; readonly detail?: unknown }
    return String(message ?? detail ?? response.statusText)
  } catch {
    return response.statusText
  }
}
