import { EventSourceParserStream } from 'eventsource-parser/stream'
import { AgentwireError } from '../../core/errors.ts'
import type { Terminal } from '../terminal.ts'

/** The options of every command that calls a control plane. */
export const PLANE_OPTIONS = {
  url: { type: 'string' },
  'api-key': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

export const PLANE_USAGE = `  --url URL       the control plane; default: the environment variable AGENTWIRE_CONTROL_PLANE_URL, or http://127.0.0.1:8080
  --api-key KEY   default: the environment variable AGENTWIRE_API_KEY (preferred)
  --json          prints JSON
  --help          shows this text`

export interface Deployment {
  readonly id: string
  readonly tenant_id: string
  readonly name: string
  readonly status: string
  readonly source: string
  readonly source_config: { readonly custom_url: string | null }
  readonly latest_revision_id: string | null
  readonly active_revision_id: string | null
  readonly updated_at: string
}

export interface Revision {
  readonly id: string
  readonly status: string
  readonly revision_number: number
  readonly created_at: string
}

/** A control plane over HTTP. */
export type Plane = ReturnType<typeof openPlane>

export function openPlane(values: { readonly url?: string; readonly 'api-key'?: string }, { env }: Terminal) {
  const given = values.url ?? (env.AGENTWIRE_CONTROL_PLANE_URL || 'http://127.0.0.1:8080')
  const url = given.replace(/\/$/, '')
  const key = values['api-key'] ?? env.AGENTWIRE_API_KEY
  const call = async (path: string, init: RequestInit): Promise<Response> => {
    const response = await reach(url, path, {
      ...init,
      headers: { ...init.headers, ...(key && { 'x-api-key': key }) },
    })
    if (response.ok) return response
    throw refused(response.status, await response.text())
  }
  return {
    url,
    /** Rejects with `AgentwireError`, with the control plane's message. */
    async request<T>(method: string, path: string, body?: object): Promise<T> {
      const sent = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
      const text = await (await call(path, { method, ...sent })).text()
      return (text === '' ? undefined : JSON.parse(text)) as T
    },
    /** The same for a response that is a stream. */
    open: (path: string, headers?: Readonly<Record<string, string>>): Promise<Response> =>
      call(path, { ...(headers && { headers }) }),
  }
}

async function reach(url: string, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url + path, init)
  } catch (cause) {
    // The error of fetch itself only says that it failed.
    const { cause: why = cause } = cause as Error
    throw new AgentwireError('unavailable', `The control plane cannot be reached at ${url}`, { cause: why })
  }
}

/** The detail of a response: a sentence, or the list of a request's problems. */
function refused(status: number, text: string): AgentwireError {
  const code = status === 401 || status === 403 ? 'forbidden' : status === 404 ? 'not_found' : 'refused'
  return new AgentwireError(code, `The control plane returned ${status}: ${detailOf(text)}`)
}

function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { readonly detail?: unknown }
    if (typeof detail === 'string') return detail
    const problems = detail as readonly { readonly loc: readonly (string | number)[]; readonly msg: string }[]
    return problems.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ')
  } catch {
    return text.slice(0, 200)
  }
}

/** Throws `AgentwireError` `not_found`. */
export async function findDeployment(plane: Plane, name: string): Promise<Deployment> {
  const found = await lookUp(plane, name)
  if (found) return found
  throw new AgentwireError(
    'not_found',
    `No deployment named “${name}”. Run “agentwire list” to see all of them.`,
  )
}

export async function lookUp(plane: Plane, name: string): Promise<Deployment | undefined> {
  const path = `/v2/deployments?name=${encodeURIComponent(name)}&limit=1`
  const { resources } = await plane.request<{ readonly resources: readonly Deployment[] }>('GET', path)
  return resources[0]
}

/** Newest first. */
export async function revisionsOf(plane: Plane, { id }: Deployment): Promise<readonly Revision[]> {
  const path = `/v2/deployments/${id}/revisions?limit=100`
  return (await plane.request<{ readonly resources: readonly Revision[] }>('GET', path)).resources
}

/** The page with the status, the revisions and the logs of a deployment. */
export const pageOf = ({ url }: Plane, { id, tenant_id }: Deployment): string =>
  `${url}/o/${tenant_id}/host/deployments/${id}`

type PlaneEvent =
  | {
      readonly event: 'status'
      readonly data: {
        readonly type: 'revision' | 'deployment'
        readonly id: string
        readonly status: string
        readonly reason: string | null
      }
    }
  | {
      readonly event: 'build' | 'deploy'
      readonly data: { readonly message: string; readonly level: string }
    }
  | { readonly event: 'deleted'; readonly data: object }

/**
 * How often a lost stream is reopened before the command gives up, and the delay between attempts, in
 * milliseconds.
 */
const ATTEMPTS = 20
const WAIT_MS = 500

/**
 * A deployment's events, from the first stored one. After a lost connection, it continues after the last one.
 */
export async function* eventsOf(
  plane: Plane,
  deploymentId: string,
  query: string,
): AsyncGenerator<PlaneEvent> {
  let last: string | undefined
  let failed = 0
  for (;;) {
    try {
      for await (const { id, event, data } of await openEvents(plane, deploymentId, query, last)) {
        failed = 0
        last = id ?? last
        yield { event, data: JSON.parse(data) } as PlaneEvent
        if (event === 'deleted') return
      }
    } catch (error) {
      // The first request shows whether there is a control plane at all.
      if (last === undefined || ++failed === ATTEMPTS) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
  }
}

async function openEvents(plane: Plane, id: string, query: string, last: string | undefined) {
  const headers: Record<string, string> = last === undefined ? {} : { 'last-event-id': last }
  const { body } = await plane.open(`/v2/deployments/${id}/events?${query}`, headers)
  return body!
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .pipeThrough(new EventSourceParserStream()) as AsyncIterable<{
    id?: string
    event?: string
    data: string
  }> &
    ReadableStream
}

/** How a revision ended. */
interface Outcome {
  readonly status: string
  readonly reason: string | null
}

const IS_FINAL = /^(?:DEPLOYED|\w+_FAILED|SKIPPED|INTERRUPTED)$/

/** Shows each status of a revision and the lines of its build. Resolves when the revision has ended. */
export async function followRevision(
  plane: Plane,
  { deploymentId, revisionId }: { readonly deploymentId: string; readonly revisionId: string },
  show: (line: string) => void,
): Promise<Outcome> {
  const began = performance.now()
  const query = `types=status,build&revision_id=${revisionId}`
  for await (const { event, data } of eventsOf(plane, deploymentId, query)) {
    if (event === 'build') show(`  │ ${data.message.replaceAll('\n', '\n  │ ')}`)
    if (event !== 'status' || data.id !== revisionId) continue
    const { status, reason } = data
    const isFinal = IS_FINAL.test(status)
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    // The caller tells the reason of the last status.
    show(`  ${status.padEnd(15)} ${seconds} s${reason && !isFinal ? `  ${reason}` : ''}`)
    if (isFinal) return { status, reason }
  }
  return { status: 'DELETED', reason: 'The deployment was deleted.' }
}
