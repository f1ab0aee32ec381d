import { checkOptions, type OptionTable } from '../core/options.ts'
import { type Audit, AuditError, within } from './check.ts'
import { type AuditedAgents, openAuditContext } from './server/context.ts'
import type { AuditLevel, Need, ServerRule } from './server/rule.ts'
import { commandRules } from './server/rules/commands.ts'
import { eventRules } from './server/rules/events.ts'
import { filterRules } from './server/rules/filters.ts'
import { interruptRules } from './server/rules/interrupts.ts'
import { requestRules } from './server/rules/requests.ts'
import { runRules } from './server/rules/runs.ts'
import { socketRules } from './server/rules/sockets.ts'
import { recordRules, stateRules } from './server/rules/states.ts'
import { streamRules } from './server/rules/streams.ts'
import type { WebSocketFactory } from './server/socket.ts'

export interface ServerAuditOptions {
  /** The base URL of the protocol's routes, such as `http://127.0.0.1:2024` or `https://example.com/api`. */
  readonly baseUrl: string
  /**
   * An assistant that answers its input with a message and keeps `messages` in its state. Default: requests
   * name no assistant.
   */
  readonly assistantId?: string | undefined
  /** Sent with every request. If omitted, the rule about callers without credentials is skipped. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Replaces the global `fetch`. Aborting its `signal` must disconnect. */
  readonly fetch?: typeof fetch | undefined
  /**
   * Opens a web socket: `(url, { headers }) => new WebSocket(url, { headers })`, with `WebSocket` from `ws`
   * or from Node 22 or newer. If omitted, the web socket rules are skipped.
   */
  readonly webSocketFactory?: WebSocketFactory | undefined
  /** Assistants that some rules need. A rule whose assistant is missing is skipped. */
  readonly agents?: AuditedAgents | undefined
  /** Returns a run input that contains `text`. Default: one human message with an id. */
  readonly input?: ((text: string) => unknown) | undefined
  /** The stream route: the protocol's `/stream` (default) or its clients' `/stream/events`. */
  readonly streamPath?: string | undefined
  /**
   * Time limit of one audit in milliseconds. Default 10,000. Do not set it below 10,000 if the server's
   * heartbeat interval is 5 seconds.
   */
  readonly timeoutMs?: number | undefined
}

export interface RunServerAuditsOptions extends ServerAuditOptions {
  /** The maximum number of audits that run at once. Default 4. */
  readonly concurrency?: number | undefined
}

const AUDIT_OPTIONS: OptionTable<RunServerAuditsOptions> = {
  baseUrl: ['required', 'string'],
  assistantId: 'string',
  headers: { '*': 'string' },
  fetch: 'function',
  webSocketFactory: 'function',
  agents: { '*': 'string' },
  input: 'function',
  streamPath: 'string',
  timeoutMs: 'number',
  concurrency: 'number',
}

/** An audit of a running server. */
export interface ServerAudit extends Audit {
  readonly level: AuditLevel
  /** Stable, such as `commands.run-start.returns-run-id`. */
  readonly rule: string
  readonly source: string
  /** Why this audit cannot run. If set, `fn` does nothing. */
  readonly skip?: string | undefined
}

/** The result of one audit. */
export interface AuditResult {
  readonly name: string
  readonly rule: string
  readonly level: AuditLevel
  /** Also false if the audit was skipped. */
  readonly passed: boolean
  readonly skipped?: true | undefined
  /** The expected and the found value, or the reason for skipping. */
  readonly detail?: string | undefined
  readonly durationMs: number
}

/**
 * The requirements of a server of the Agent Streaming Protocol, as named checks for any test runner. Each
 * audit creates its own threads and deletes them. The server may contain other data.
 *
 * ```ts
 * for (const { name, fn, skip } of serverAudits({ baseUrl, assistantId: 'agent' })) test.skipIf(skip)(name, fn)
 * ```
 */
export function serverAudits(options: ServerAuditOptions): readonly ServerAudit[] {
  checkOptions('serverAudits', options, AUDIT_OPTIONS)
  const { timeoutMs = 10_000 } = options
  return serverRules.map(({ rule, level, name, source, needs, check }) => {
    const skip = missing(options, needs)
    const fn = skip ? async () => {} : () => withAuditContext(options, timeoutMs, check)
    return { id: `server.${rule}`, rule, level, name, source, skip, fn }
  })
}

/** Why a rule cannot be checked, or undefined if it can. */
function missing(
  { webSocketFactory, headers = {}, agents = {} }: ServerAuditOptions,
  needs: readonly Need[],
): string | undefined {
  const reasons = needs.map((need) => {
    if (need === 'webSocketFactory')
      return webSocketFactory
        ? undefined
        : 'No webSocketFactory is given, as for a server without web sockets.'
    if (need === 'headers')
      return Object.keys(headers).length > 0 ? undefined : 'No headers are given that a caller could lack.'
    return agents[need] === undefined ? `No assistant is named as agents.${need}.` : undefined
  })
  return reasons.find((reason) => reason !== undefined)
}

/**
 * Runs the audits and returns their results in the order of `serverAudits`. It does not reject. A server
 * conforms if every result whose level is MUST has passed or was skipped.
 */
export const runServerAudits = (options: RunServerAuditsOptions): Promise<readonly AuditResult[]> =>
  runAudits(serverAudits(options), options.concurrency)

/** The results of audits in their order, so many at once. */
export async function runAudits(
  audits: readonly ServerAudit[],
  concurrency = 4,
): Promise<readonly AuditResult[]> {
  const results: AuditResult[] = []
  let next = 0
  const work = async () => {
    while (next < audits.length) {
      const index = next++
      results[index] = await resultOf(audits[index]!)
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, work))
  return results
}

async function resultOf({ name, rule, level, skip, fn }: ServerAudit): Promise<AuditResult> {
  if (skip !== undefined)
    return { name, rule, level, passed: false, skipped: true, detail: skip, durationMs: 0 }
  const start = performance.now()
  const detail = await fn().then(() => undefined, messageOf)
  const durationMs = Math.round(performance.now() - start)
  return { name, rule, level, passed: detail === undefined, detail, durationMs }
}

/** Time that a timed-out audit gets to report what it was waiting for, in milliseconds. */
const GRACE_MS = 500

async function withAuditContext(
  options: ServerAuditOptions,
  timeoutMs: number,
  check: ServerRule['check'],
): Promise<void> {
  const leaving = new AbortController()
  const late = new AuditError('the audit', `an end within ${timeoutMs} ms`, 'none')
  const timer = setTimeout(() => leaving.abort(late), timeoutMs)
  const { audit, clear } = openAuditContext({
    baseUrl: options.baseUrl,
    assistantId: options.assistantId,
    agents: options.agents ?? {},
    headers: options.headers ?? {},
    fetch: options.fetch ?? fetch,
    webSocketFactory: options.webSocketFactory,
    input: options.input ?? humanInput,
    streamPath: options.streamPath ?? '/stream',
    signal: leaving.signal,
  })
  try {
    await within('the audit', check(audit), timeoutMs + GRACE_MS)
  } finally {
    clearTimeout(timer)
    // Closes the streams that are still open.
    leaving.abort(late)
    await clear()
  }
}

const humanInput = (text: string) => ({
  messages: [{ type: 'human', content: text, id: crypto.randomUUID() }],
})

/** In characters: the found value may be a complete history. */
const MAX_DETAIL = 2_000

/** The error's message, with the cause of a failed request. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  const message = cause instanceof Error ? `${error.message}: ${cause.message}` : error.message
  return message.length > MAX_DETAIL ? `${message.slice(0, MAX_DETAIL)}…` : message || error.name
}

/** Every rule, in the order of a thread's life cycle. */
export const serverRules: readonly ServerRule[] = [
  ...commandRules,
  ...runRules,
  ...interruptRules,
  ...streamRules,
  ...filterRules,
  ...eventRules,
  ...stateRules,
  ...recordRules,
  ...requestRules,
  ...socketRules,
]
