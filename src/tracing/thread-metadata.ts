import { isRecord } from '../messages/record.ts'

export interface ThreadOptions {
  /** What the attribute's name begins with. Default `langsmith`. */
  readonly vendor?: string | undefined
  /** Of longer bodies nothing is read. Default 4 MiB. */
  readonly maxBytes?: number | undefined
}

/** The thread that a request belongs to, by `metadata.thread_id` at the top of its JSON-RPC body. */
export interface ThreadMetadata {
  readonly threadId: string | undefined
  /** For the active span: `<vendor>.metadata.thread_id` and `gen_ai.conversation.id`. Empty where there is no thread. */
  readonly attributes: Readonly<Record<string, string>>
}

export interface RequestThread extends ThreadMetadata {
  /** Equal to the request, with a body that has not been read. Use it in place of the one that was given. */
  readonly request: Request
}

export const DEFAULT_MAX_BYTES = 4 * 1024 * 1024
/** Ids are UUIDs or the like. */
const LONGEST_ID = 512

/**
 * Reads which thread a request belongs to, where an agent is called that does not speak to the platform itself: A2A clients send
 * `metadata.thread_id` beside `method` and `params`. Only JSON bodies of POST requests are read, and only up to `maxBytes`.
 * Never throws: a body that is no JSON, or breaks off, is the next handler's affair.
 *
 * ```ts
 * const { request: again, attributes } = await threadMetadata(request)
 * trace.getActiveSpan()?.setAttributes(attributes)
 * return handler(again)
 * ```
 */
export async function threadMetadata(request: Request, options: ThreadOptions = {}): Promise<RequestThread> {
  const { maxBytes = DEFAULT_MAX_BYTES } = options
  if (!hasJson(request.method, (name) => request.headers.get(name)) || !request.body || request.bodyUsed)
    return { ...threadOf(undefined, options), request }
  if (Number(request.headers.get('content-length')) > maxBytes)
    return { ...threadOf(undefined, options), request }
  // The copy is read; what it has taken waits in the request itself.
  const text = await readText(request.clone(), maxBytes)
  return { ...threadOf(parse(text), options), request }
}

/** The thread that a JSON body names. */
export function threadOf(body: unknown, { vendor = 'langsmith' }: ThreadOptions = {}): ThreadMetadata {
  const metadata = isRecord(body) && isRecord(body.metadata) ? body.metadata : {}
  const { thread_id: id } = metadata
  if (typeof id !== 'string' || id === '' || id.length > LONGEST_ID)
    return { threadId: undefined, attributes: {} }
  return { threadId: id, attributes: { [`${vendor}.metadata.thread_id`]: id, 'gen_ai.conversation.id': id } }
}

/** Whether a request can have the body that is looked for. */
export function hasJson(
  method: string | undefined,
  header: (name: string) => string | null | undefined,
): boolean {
  const type = header('content-type')
  return (
    method === 'POST' &&
    (!type || /^application\/([\w.+-]+\+)?json\b/i.test(type)) &&
    !header('content-encoding')
  )
}

export function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined // Whoever handles the request says what is wrong with it.
  }
}

async function readText({ body }: Request, maxBytes: number): Promise<string | undefined> {
  const reader = body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let length = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text + decoder.decode()
      length += value.byteLength
      if (length > maxBytes) break
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    return undefined // The request itself breaks off in the same place, before its handler.
  }
  reader.cancel().catch(() => {}) // Settles when the request is read or cancelled: nobody waits for it.
  return undefined
}
