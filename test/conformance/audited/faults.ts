import type { WebHandler } from '../../../src/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: faults change what is sent in every shape
type Json = any
type Send = (request: Request) => Promise<Response>

/** Something a server does wrong, around one that does it right. */
export type Fault = (send: Send) => Send

export function faulty(server: WebHandler, fault: Fault): typeof fetch {
  // Made once: faults count what they see of a thread.
  const send = fault((request) => server.fetch(request))
  return (input, init) => send(new Request(input, init))
}

const pathOf = (request: Request): string => new URL(request.url).pathname
const isStream = (request: Request): boolean => /\/stream(\/events)?$/.test(pathOf(request))

/** Another request goes to the server than the one that came. */
export const asked =
  (change: (body: Json, request: Request) => { body?: Json; url?: string; headers?: Headers }): Fault =>
  (send) =>
  async (request) => {
    const text = await request.clone().text()
    const { body, url = request.url, headers = request.headers } = change(parsed(text), request)
    const { method, signal } = request
    const sent = body === undefined ? text : JSON.stringify(body)
    return send(new Request(url, { method, headers, signal, ...(sent !== '' && { body: sent }) }))
  }

/** The filter of each stream is another one. */
export const filtered = (change: (filter: Json) => Json): Fault =>
  asked((body, request) => (isStream(request) ? { body: change(body) } : {}))

/** The params of each command of a method are others. */
export const commanded = (method: string, change: (params: Json) => Json): Fault =>
  asked((body) => (body?.method === method ? { body: { ...body, params: change(body.params) } } : {}))

/** An answer in JSON to requests whose method and path match is another one. */
export const answered =
  (
    where: RegExp,
    change: (body: Json, status: number, sent: Json) => { body?: Json; status?: number },
  ): Fault =>
  (send) =>
  async (request) => {
    const sent = parsed(await request.clone().text())
    const response = await send(request)
    if (!where.test(`${request.method} ${pathOf(request)}`) || isStream(request)) return response
    const text = await response.text()
    const { body = parsed(text), status = response.status } = change(parsed(text), response.status, sent)
    return status === 204 ? new Response(null, { status }) : Response.json(body ?? null, { status })
  }

/** The events of streams are others. Told are the place of an event in its stream, and that of the stream on its thread. */
export const told =
  (change: (event: Json, at: number, reader: number) => readonly Json[]): Fault =>
  (send) => {
    const readers = new Map<string, number>()
    return async (request) => {
      const path = pathOf(request)
      const reader = readers.get(path) ?? 0
      let at = 0
      const response = await send(request)
      if (!isStream(request) || response.status !== 200) return response
      readers.set(path, reader + 1)
      return framed(response, (frame) => {
        const data = /^data: (.*)$/m.exec(frame)?.[1]
        if (data === undefined) return frame
        return change(JSON.parse(data), at++, reader)
          .map((event) => `id: ${event.event_id}\nevent: ${event.method}\ndata: ${JSON.stringify(event)}\n\n`)
          .join('')
      })
    }
  }

/** The frames of streams are others, comments too; `undefined` ends the stream. */
export const wrapped =
  (change: (frame: string) => string | undefined): Fault =>
  (send) =>
  async (request) => {
    const response = await send(request)
    return isStream(request) && response.status === 200 ? framed(response, change) : response
  }

function framed(response: Response, change: (frame: string) => string | undefined): Response {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let rest = ''
  const frames = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      rest += decoder.decode(chunk, { stream: true })
      const whole = rest.match(/:.*\n|[^:][\s\S]*?\n\n/gy) ?? []
      rest = rest.slice(whole.join('').length)
      for (const frame of whole) {
        const changed = change(frame)
        if (changed === undefined) return controller.terminate()
        if (changed !== '') controller.enqueue(encoder.encode(changed))
      }
    },
  })
  return new Response(response.body!.pipeThrough(frames), response)
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
