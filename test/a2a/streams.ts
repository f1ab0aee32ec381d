import { readFrames } from '../kit/frames.ts'

// biome-ignore lint/suspicious/noExplicitAny: the tests look at answers field by field
export type Json = any

/** Where requests go: a server in process, or one behind a socket. */
export type Send = (request: Request) => Promise<Response>

export interface StreamEvent {
  readonly id: string | undefined
  /** The item in the shape of v0.3. */
  readonly result: Json
  readonly error: Json
}

/** A client that speaks v0.3 to the agent of a URL. */
export function clientOf(url: string, send: Send = fetch, own: Readonly<Record<string, string>> = {}) {
  const post = (method: string, params: object, headers: Readonly<Record<string, string>> = {}) =>
    send(
      new Request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...own, ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }),
    )
  const ask = async (method: string, params: object): Promise<Json> => {
    const { result, error } = (await (await post(method, params)).json()) as Json
    if (error) throw Object.assign(new Error(error.message), { code: error.code })
    return result
  }
  return {
    ask,
    send: (message: object, configuration: object = {}) => ask('message/send', { message, configuration }),
    get: (id: string) => ask('tasks/get', { id }),
    stream: async (message: object) => eventsOf(await post('message/stream', { message })),
    /** Without `lastEventId` the run is told from its start. */
    resubscribe: async (id: string, lastEventId?: string) =>
      eventsOf(
        await post(
          'tasks/resubscribe',
          { id },
          lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
        ),
      ),
    post,
  }
}

export type A2AClient = ReturnType<typeof clientOf>

export const said = (text: string, fields: object = {}) => ({
  kind: 'message',
  messageId: crypto.randomUUID(),
  role: 'user',
  parts: [{ kind: 'text', text }],
  ...fields,
})

/** The events of a stream. It throws where the connection breaks, and for an answer that is no stream. */
export async function* eventsOf(response: Response): AsyncGenerator<StreamEvent, void, undefined> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    throw Object.assign(new Error(await response.text()), { status: response.status })
  for await (const { frames } of readFrames(response.body!))
    for (const { id, data } of frames) {
      const { result, error } = JSON.parse(data)
      yield { id, result, error }
    }
}

export async function all(events: Promise<AsyncIterable<StreamEvent>>): Promise<StreamEvent[]> {
  const list: StreamEvent[] = []
  for await (const event of await events) list.push(event)
  return list
}

/** What a client knows of a task by the rules of the specification: an artifact is continued with `append`, else replaced. */
export interface Told {
  readonly artifacts: Map<string, { readonly name: string | undefined; parts: Json[] }>
  /** The states of the statuses, in order. */
  readonly states: string[]
  finals: number
  lastId: string | undefined
}

export const nothingTold = (): Told => ({ artifacts: new Map(), states: [], finals: 0, lastId: undefined })

export function tell(told: Told, { id, result, error }: StreamEvent): void {
  if (error) throw Object.assign(new Error(error.message), { code: error.code })
  told.lastId = id ?? told.lastId
  if (result.kind === 'status-update') {
    told.states.push(result.status.state)
    if (result.final) told.finals += 1
  }
  if (result.kind !== 'artifact-update') return
  const { artifactId, name, parts } = result.artifact
  const known = told.artifacts.get(artifactId)
  if (result.append && !known) throw new Error(`Artifact ${artifactId} goes on, and never began.`)
  if (result.append) known!.parts.push(...parts)
  else told.artifacts.set(artifactId, { name, parts: [...parts] })
}

export function toldBy(events: readonly StreamEvent[], told = nothingTold()): Told {
  for (const event of events) tell(told, event)
  return told
}

/** Artifacts as a client shows them: texts joined, and without those that were taken back. */
export const shownBy = ({ artifacts }: Told) =>
  shown([...artifacts].map(([artifactId, { parts }]) => ({ artifactId, parts })))

/** The artifacts of a task in the same form. */
export const shown = (artifacts: readonly { readonly artifactId: string; readonly parts: Json[] }[] = []) =>
  Object.fromEntries(
    artifacts
      .map(({ artifactId, parts }) => [artifactId, joined(parts)] as const)
      .filter(([, parts]) => parts.length > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

function joined(parts: readonly Json[]): Json[] {
  const whole: Json[] = []
  for (const part of parts) {
    const last = whole.at(-1)
    if (part.kind !== 'text') whole.push(part)
    else if (last?.kind === 'text') whole[whole.length - 1] = { ...last, text: last.text + part.text }
    else if (part.text !== '') whole.push(part)
  }
  return whole
}
