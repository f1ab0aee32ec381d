import { type ClientHttp2Stream, connect, constants } from 'node:http2'

export interface Http2Fetch {
  readonly fetch: typeof fetch
  close(): void
}

/** The part of `fetch` that the audits use, over one HTTP/2 connection without TLS, because Node's own speaks HTTP/2 over TLS only. */
export function createHttp2Fetch(origin: string): Http2Fetch {
  const session = connect(origin)

  async function send(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    // A Request serializes the body and sets its type. Its signal is not used, because Node 20 loses it.
    const request = new Request(input, { ...init, signal: null })
    const { pathname, search } = new URL(request.url)
    const headers: Record<string, string | string[]> = Object.fromEntries(request.headers)
    if (headers.cookie) headers.cookie = String(headers.cookie).split('; ')
    const path = pathname + search
    const stream = session.request(
      { ':method': request.method, ':path': path, ...headers },
      { endStream: !request.body },
    )
    init?.signal?.addEventListener('abort', () => stream.close(constants.NGHTTP2_CANCEL))
    const answer = response(stream)
    if (request.body) await upload(request.body, stream)
    return answer
  }
  return { fetch: send, close: () => session.close() }
}

async function upload(body: ReadableStream<Uint8Array>, stream: ClientHttp2Stream): Promise<void> {
  let wake = () => {}
  stream.on('drain', () => wake()).on('close', () => wake())
  for await (const chunk of body) {
    // The server may answer before it has the whole body.
    if (stream.closed || stream.destroyed) return
    if (stream.write(chunk)) continue
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  stream.end()
}

function response(stream: ClientHttp2Stream): Promise<Response> {
  return new Promise((resolve, reject) => {
    stream.on('error', reject)
    stream.on('close', () => reject(new Error('The stream was closed.')))
    stream.on('response', (fields) => {
      const headers = new Headers()
      for (const [name, value] of Object.entries(fields)) {
        if (!name.startsWith(':')) for (const each of [value].flat()) headers.append(name, String(each))
      }
      const status = Number(fields[':status'])
      resolve(new Response(status === 204 ? null : readableOf(stream), { status, headers }))
    })
  })
}

function readableOf(stream: ClientHttp2Stream): ReadableStream<Uint8Array> {
  let settled = false
  return new ReadableStream({
    start(controller) {
      stream.on('data', (chunk: Uint8Array) => {
        controller.enqueue(new Uint8Array(chunk))
        if ((controller.desiredSize ?? 0) <= 0) stream.pause()
      })
      stream.on('end', () => {
        if (settled || stream.rstCode !== constants.NGHTTP2_NO_ERROR) return
        settled = true
        controller.close()
      })
      stream.on('close', () => {
        if (settled) return
        settled = true
        controller.error(new Error(`The stream was reset with code ${stream.rstCode}.`))
      })
    },
    pull: () => void stream.resume(),
    cancel: () => stream.close(constants.NGHTTP2_CANCEL),
  })
}
