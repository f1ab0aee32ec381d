import { isRecord } from '../../../messages/record.ts'

export interface ThreadOptions {
  /** The prefix of the attribute name. Default `langsmith`. */
  readonly vendor?: string | undefined
  /** The limit in bytes; longer bodies are not searched. Default 4 MiB. */
  readonly maxBytes?: number | undefined
}

/** The thread of a request: `metadata.thread_id` at the top of its JSON-RPC body. */
export interface ThreadMetadata {
  readonly threadId: string | undefined
  /** Attributes for the span: `<vendor>.metadata.thread_id` and `gen_ai.conversation.id`. May be empty. */
  readonly attributes: Readonly<Record<string, string>>
}

export interface RequestThread extends ThreadMetadata {
  /** An equal request with an unread body. Use it instead of the one that you passed. */
  readonly request: Request
}

export const DEFAULT_MAX_BYTES = 4 * 1024 * 1024
/** Ids are UUIDs or similar, so a longer text is not an id. */
const MAX_ID_LENGTH = 512

/**
 * Reads the thread of a request to an agent, so that its spans can name it. A2A clients send
 * `metadata.thread_id` next to `method` and `params`. Only JSON bodies of POST requests are read, up to
 * `maxBytes`. It never throws: the next handler reports an invalid body.
 *
 * ```ts
 * const { request: again, attributes } = await threadMetadata(request)
 * trace.getActiveSpan()?.setAttributes(attributes)
 * return handler(again)
 * ```
 */
export async function threadMetadata(request: Request, options: ThreadOptions = {}): Promise<RequestThread> {
  const { maxBytes = DEFAULT_MAX_BYTES } = options
  const { method, headers, body, bodyUsed } = request
  const isReadable = hasJson(method, (name) => headers.get(name)) && body && !bodyUsed
  const isShort = !(Number(headers.get('content-length')) > maxBytes)
  // The clone is read, and the request buffers the same bytes for the next handler.
  const text = isReadable && isShort ? await readText(request.clone(), maxBytes) : undefined
  return { ...threadOf(parse(text), options), request }
}

/** The thread that a JSON body names. */
export function threadOf(body: unknown, { vendor = 'langsmith' }: ThreadOptions = {}): ThreadMetadata {
  const metadata = isRecord(body) && isRecord(body.metadata) ? body.metadata : {}
  const { thread_id: id } = metadata
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH)
    return { threadId: undefined, attributes: {} }
  return { threadId: id, attributes: { [`${vendor}.metadata.thread_id`]: id, 'gen_ai.conversation.id': id } }
}

/** Whether a request may have a JSON body. */
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
    return undefined // The request's handler reports what is wrong with it.
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
    return undefined // The handler gets the same error when it reads the request.
  }
  reader.cancel().catch(() => {}) // It settles only when the request is read or cancelled, so nothing awaits it.
  return undefined
}
