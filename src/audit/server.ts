import { checkOptions, type OptionTable } from '../options.ts'
import { AuditError, within } from './check.ts'
import { type AuditedAgents, openAuditContext } from './server/context.ts'
import type { AuditLevel, Need, ServerRule } from './server/rule.ts'
import { serverRules } from './server/rules.ts'
import type { WebSocketFactory } from './server/socket.ts'
import type { Audit } from './types.ts'

export interface ServerAuditOptions {
  /** Where the routes of the protocol are, such as `http://127.0.0.1:2024` or `https://example.com/api`. */
  readonly baseUrl: string
  /** Answers its input with a message, and keeps `messages` in its state. Default: none is named. */
  readonly assistantId?: string | undefined
  /** Sent with every request. Without them the rule about callers without credentials is skipped. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Default: the global one. Its `signal` must disconnect. */
  readonly fetch?: typeof fetch | undefined
  /**
   * Opens a web socket: `(url, { headers }) => new WebSocket(url, { headers })`, with `WebSocket` of `ws` or of Node
   * from 22 on. Without it the rules about web sockets are skipped.
   */
  readonly webSocketFactory?: WebSocketFactory | undefined
  /** Assistants that some rules need. Rules whose assistant is not named here are skipped. */
  readonly agents?: AuditedAgents | undefined
  /** The input of a run that says `text`. Default: one human message with an id. */
  readonly input?: ((text: string) => unknown) | undefined
  /** Where streams are read: `/stream` of the protocol (default) or `/stream/events` of its clients. */
  readonly streamPath?: string | undefined
  /** Milliseconds that one audit may take. Default 10,000. Heartbeats of 5 seconds need that long. */
  readonly timeoutMs?: number | undefined
}

export interface RunServerAuditsOptions extends ServerAuditOptions {
  /** How many audits run at once. Default 4. */
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
  /** Why this audit cannot be made: `fn` does nothing then. */
  readonly skip?: string | undefined
}

/** What came of one audit. */
export interface AuditResult {
  readonly name: string
  readonly rule: string
  readonly level: AuditLevel
  /** False also for what was skipped: nothing is known of it. */
  readonly passed: boolean
  readonly skipped?: true | undefined
  /** What was expected and what was seen, or why the audit was skipped. */
  readonly detail?: string | undefined
  readonly durationMs: number
}

/**
 * What a running server of the Agent Streaming Protocol must do, as named checks for any test runner. Each audit
 * uses threads of its own and deletes them; other data may be on the server.
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

/** Why a rule cannot be checked; undefined where it can. */
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
 * Runs the audits and gives their results, in the order of `serverAudits`. It does not reject.
 * A server conforms when each result has another level than MUST, or has passed or was skipped.
 */
export async function runServerAudits(options: RunServerAuditsOptions): Promise<readonly AuditResult[]> {
  const { concurrency = 4 } = options
  const audits = serverAudits(options)
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

/** How long an audit may take to say what it waited for, once its time has run out. */
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
    // Ends the streams that are still open.
    leaving.abort(late)
    await clear()
  }
}

const humanInput = (text: string) => ({
  messages: [{ type: 'human', content: text, id: crypto.randomUUID() }],
})

/** Characters. What was seen may be a whole history. */
const MAX_DETAIL = 2_000

/** The message of an error, with what lies behind a failed request. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  const message = cause instanceof Error ? `${error.message}: ${cause.message}` : error.message
  return message.length > MAX_DETAIL ? `${message.slice(0, MAX_DETAIL)}…` : message || error.name
}
