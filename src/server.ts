import type { Agent } from './agents/agent.ts'
import { type Authenticate, combine, type OnError, type WebHandler } from './http/index.ts'
import { createRunEngine } from './runs/index.ts'
import type { Checkpointer } from './storage/checkpointer/checkpointer.ts'
import { memoryCheckpointer } from './storage/memory/checkpointer.ts'
import { memoryStore } from './storage/memory/store.ts'
import type { Store } from './storage/store/store.ts'
import { type Authorize, createThreadsGroup } from './threads/index.ts'

export interface ServerOptions {
  /** The agents, by assistant id. */
  readonly agents: Readonly<Record<string, Agent>>
  /** The assistant of a thread that names none. Default: the only agent, if there is only one. */
  readonly defaultAgent?: string | undefined
  /** The Agent Streaming Protocol under `/threads/…`. */
  readonly threads?: ThreadsOptions | undefined
  readonly http?: HttpOptions | undefined
  /** Keeps the agents' state. Default: memory. Agents that bring their own saver keep it. */
  readonly checkpointer?: Checkpointer | undefined
  /** Keeps threads, runs and events. Default: memory. */
  readonly store?: Store | undefined
  /** Who a request comes from; null is answered with 401. Default: everybody may do everything, and the server says so once. */
  readonly authenticate?: Authenticate | undefined
  /** May refuse what ownership allows. Default: owners may do everything with what is theirs. */
  readonly authorize?: Authorize | undefined
  /**
   * How long a silent instance keeps its runs, in milliseconds, where others share its store: they take them over by a third of it
   * later at the latest. Default: 15,000.
   */
  readonly leaseTtlMs?: number | undefined
  /** How long runs may go on after `close()`, in milliseconds, before they are stopped or handed over. Default: 0. */
  readonly drainMs?: number | undefined
  /** Told of what went wrong on our side, with the id that the client was given. Default: `console.error`. */
  readonly onError?: OnError | undefined
}

export interface ThreadsOptions {
  /** Such as `/api`, for `/api/threads/…`. Default: none. */
  readonly basePath?: string | undefined
}

export interface HttpOptions {
  /** Larger request bodies get 413. Default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
}

/** Serves agents: every endpoint group over one run engine, as one handler to mount. */
export function createAgentServer(options: ServerOptions): WebHandler {
  return combine([createThreadsHandler(options)])
}

/** The Agent Streaming Protocol alone. */
export function createThreadsHandler(options: ServerOptions): WebHandler {
  const { authenticate, authorize, onError = logError } = options
  if (!authenticate) warnOpen()
  const engine = createRunEngine({
    agents: new Map(Object.entries(options.agents)),
    defaultAgent: options.defaultAgent,
    leaseTtlMs: options.leaseTtlMs,
    drainMs: options.drainMs,
    store: options.store ?? memoryStore(),
    checkpointer: options.checkpointer ?? memoryCheckpointer(),
    onError: (error, { runId }) => onError(error, { id: runId ?? '' }),
  })
  return createThreadsGroup({
    engine,
    authenticate,
    authorize,
    basePath: options.threads?.basePath,
    maxBodyBytes: options.http?.maxBodyBytes,
    onError,
    onClose: engine.close,
  })
}

const logError: OnError = (error, { id }) => console.error(`agentwire: error ${id}`, error)

let warned = false

function warnOpen(): void {
  if (warned) return
  warned = true
  console.warn('agentwire: no `authenticate` option: every caller may read and change every thread.')
}
