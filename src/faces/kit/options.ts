import { logError } from '../../core/errors.ts'
import {
  type Authenticate,
  CORS,
  type CorsOptions,
  type LangGraphCors,
  type OnError,
  originCheck,
} from '../../core/http/index.ts'
import { checkOptions, type OptionTable, STORAGE_PARTS, type Table } from '../../core/options.ts'
import { type AgentEngine, type AgentEngineOptions, ENGINE_OPTIONS, openEngine } from '../../engine/index.ts'
import type { Authorize } from './access.ts'

/** How requests are accepted, with any engine. */
export interface FaceOptions {
  readonly http?: HttpOptions | undefined
  /**
   * Identifies the caller of a request. Null is answered with 401. Default: anyone can call everything, and
   * the server warns about it on the first request.
   */
  readonly authenticate?: Authenticate | undefined
  /**
   * Restricts access within what ownership allows. Default: owners can do everything with their own
   * resources.
   */
  readonly authorize?: Authorize | undefined
  /**
   * Called with errors that are the server's fault, with the error id that was sent to the client, and the
   * thread, run and request if known. Errors that it throws or rejects with are ignored. Default:
   * `console.error`.
   */
  readonly onError?: OnError | undefined
}

/** The HTTP options of a face. */
export interface HttpOptions {
  /** The maximum size of a request body, in bytes. Larger bodies get 413. Default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /**
   * The other origins whose pages may call the server. Also accepts the section `http.cors` of a
   * `langgraph.json`. Default: none, except that `serve` from `agentwire/node` allows pages on the same
   * machine. `false` forbids these, too.
   */
  readonly cors?: CorsOptions | LangGraphCors | false | undefined
}

export const HTTP_OPTIONS: OptionTable<HttpOptions> = { maxBodyBytes: 'number', cors: CORS }

/** The options of an engine that the handler creates and closes. */
export interface OwnEngine extends Omit<AgentEngineOptions, 'onError'> {
  readonly engine?: undefined
}

/** Your engine. Close it after the handler: its streams end with the handler. */
export interface SharedEngine {
  readonly engine: AgentEngine
}

/** An engine, or the options to create one. */
export type EngineChoice = OwnEngine | SharedEngine

const FACE_OPTIONS: OptionTable<FaceOptions> = {
  http: HTTP_OPTIONS,
  authenticate: 'function',
  authorize: 'function',
  onError: 'function',
}

/** Validates the options of a face, its own options included, with an engine or the options to create one. */
export function checkFace(name: string, options: unknown, own: Table): void {
  checkOptions(name, options, FACE_OPTIONS, ENGINE_OPTIONS, STORAGE_PARTS, { engine: 'object' }, own)
}

/** The engine of a handler, and what to close when the handler closes. */
export function engineOf(options: EngineChoice & Pick<FaceOptions, 'onError'>): {
  readonly engine: AgentEngine
  readonly close: () => Promise<void>
} {
  if (options?.engine) return { engine: options.engine, close: async () => {} }
  const { onError = logError } = options ?? {}
  const engine = openEngine({ ...options, onError })
  return { engine, close: engine.close }
}

/** What every group of routes gets. */
export function groupOptions({ authenticate, authorize, http, onError = logError }: FaceOptions) {
  const allowsOrigin = originCheck(http?.cors)
  return { authenticate, authorize, maxBodyBytes: http?.maxBodyBytes, onError, allowsOrigin }
}
