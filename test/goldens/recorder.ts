import type { WebHandler } from '../../src/index.ts'
import type { Json } from '../kit/events.ts'

/** The answer of a request, which later requests may take ids from: its text, and its JSON if it is JSON. */
export interface Answer {
  readonly json: Json
  readonly text: string
}

export type Ask = (
  method: string,
  path: string,
  body?: unknown,
  options?: { readonly headers?: Readonly<Record<string, string>>; readonly until?: RegExp },
) => Promise<Answer>

export interface Recorder {
  readonly ask: Ask
  /** All requests so far with their answers, as a text that is the same each time. */
  readonly transcript: () => string
}

/** Sends requests to a server and keeps what came back, byte for byte but for what each run has anew: ids, times and versions. */
export function recorder(server: Pick<WebHandler, 'fetch'>): Recorder {
  const parts: string[] = []
  const ask: Ask = async (method, path, body, { headers = {}, until } = {}) => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body)
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers: {
        ...(sent !== undefined && { 'content-type': 'application/json' }),
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      ...(sent !== undefined && { body: sent }),
    })
    const response = await server.fetch(request)
    const text = until && response.ok ? await readUntil(response, until) : await response.text()
    const kind = response.headers.get('content-type')?.split(';')[0] ?? ''
    parts.push(
      `> ${method} ${path}${sent === undefined ? '' : `\n${sent}`}\n< ${response.status} ${kind}\n${text}`,
    )
    return { text, json: kind === 'application/json' ? JSON.parse(text) : undefined }
  }
  return { ask, transcript: () => `${normalised(parts.join('\n\n'))}\n` }
}

/** The text of a stream up to the first event that matches, for streams that go on. */
async function readUntil(response: Response, end: RegExp): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!(end.test(text) && text.endsWith('\n\n'))) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`The stream ended before ${end}:\n${text}`)
    text += value
  }
  await reader.cancel()
  return text
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/
/** An id that tests choose, such as `00000000-0000-4000-8000-000000000001`, says itself. */
const CHOSEN = /^0{8}-/

/** Ids are numbered in the order in which they come, so that it still shows which are the same. */
function normalised(text: string): string {
  const seen = new Map<string, string>()
  const numbered = (id: string): string => {
    if (CHOSEN.test(id)) return id
    const known = seen.get(id) ?? `<id ${seen.size + 1}>`
    seen.set(id, known)
    return known
  }
  return (
    text
      .replace(new RegExp(UUID.source, 'g'), numbered)
      .replace(/(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/g, numbered)
      // The id of an interrupt in base64url.
      .replace(/(?<=~)[\w-]{43}(?![\w-])/g, numbered)
      // Messages of the fixtures count on.
      .replace(/(?<![a-z])ai-\d+\b/g, numbered)
      .replace(/\b1\d{12}\b/g, '<ms>')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/g, '<time>')
      .replace(/"(created|created_at|completed_at|expires_at)":\d{10}\b/g, '"$1":<seconds>')
      .replace(/"(timestamp|startedAt|endedAt|durationMs|createdAt|ts)":\d+(?:\.\d+)?/g, '"$1":<ms>')
      .replace(
        /("(?:langgraph_version|version|langchain_core_version)":)"\d+\.\d+\.\d+[^"]*"/g,
        '$1"<version>"',
      )
  )
}
