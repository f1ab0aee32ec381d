import { logError } from '../errors.ts'
import {
  type Authenticate,
  CORS,
  type CorsOptions,
  type LangGraphCors,
  type OnError,
  originCheck,
} from '../http/index.ts'
import { checkOptions, type OptionTable, STORAGE_PARTS, type Table } from '../options.ts'
import { type AgentEngine, type AgentEngineOptions, ENGINE_OPTIONS, openEngine } from '../runs/index.ts'
import type { Authorize } from './access.ts'

/** What decides how requests are taken, whoever has the engine. */
export interface FaceOptions {
  readonly http?: HttpOptions | undefined
  /** Who a request comes from; null is answered with 401. Default: everybody may do everything, and the server says so once. */
  readonly authenticate?: Authenticate | undefined
  /** May refuse what ownership allows. Default: owners may do everything with what is theirs. */
  readonly authorize?: Authorize | undefined
  /**
   * Told of what went wrong on our side, with the error id that the client was given and what is known of the thread, the run and
   * the request. What it throws or rejects with is ignored. Default: `console.error`.
   */
  readonly onError?: OnError | undefined
}

export interface HttpOptions {
  /** Larger request bodies get 413. Default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /**
   * Which pages of other origins may call the server. Takes the section `http.cors` of a `langgraph.json` too. Default: none,
   * but for `serve` of `agentwire/node`, which allows pages of this machine; `false` forbids these as well.
   */
  readonly cors?: CorsOptions | LangGraphCors | false | undefined
}

export const HTTP_OPTIONS: OptionTable<HttpOptions> = { maxBodyBytes: 'number', cors: CORS }

/** The options of an engine that the handler makes, and closes. */
export interface OwnEngine extends Omit<AgentEngineOptions, 'onError'> {
  readonly engine?: undefined
}

/** An engine that you have made, and close yourself after the handler: its streams end with it. */
export interface SharedEngine {
  readonly engine: AgentEngine
}

/** An engine, or the options for one. */
export type EngineChoice = OwnEngine | SharedEngine

const FACE_OPTIONS: OptionTable<FaceOptions> = {
  http: HTTP_OPTIONS,
  authenticate: 'function',
  authorize: 'function',
  onError: 'function',
}

/** Checks the options of a face with those of its own, where it has an engine or makes one. */
export function checkFace(name: string, options: unknown, own: Table): void {
  checkOptions(name, options, FACE_OPTIONS, ENGINE_OPTIONS, STORAGE_PARTS, { engine: 'object' }, own)
}

/** The engine of a handler, and what the handler does about it when it closes. */
export function engineOf(options: EngineChoice & Pick<FaceOptions, 'onError'>): {
  readonly engine: AgentEngine
  readonly close: () => Promise<void>
} {
  if (options?.engine) return { engine: options.engine, close: async () => {} }
  const { onError = logError } = options ?? {}
  const engine = openEngine({ ...options, onError })
  return { engine, close: engine.close }
}

/** What every group of routes is given. A server without authentication says so. */
export function groupOptions({ authenticate, authorize, http, onError = logError }: FaceOptions) {
  if (!authenticate) warnOpen()
  const allowsOrigin = originCheck(http?.cors)
  return { authenticate, authorize, maxBodyBytes: http?.maxBodyBytes, onError, allowsOrigin }
}

let warned = false

function warnOpen(): void {
  if (warned) return
  warned = true
  console.warn('agentwire: no `authenticate` option: anyone can read and change every thread.')
}
