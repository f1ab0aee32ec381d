import type { OptionTable } from '../../core/options.ts'
import { VERSION } from '../../core/version.ts'
import type { FaceContext } from '../kit/routes.ts'
import { WEBHOOK_OPTIONS, type WebhookOptions, type Webhooks } from './runs/webhooks.ts'

/** The context for starting runs. */
export interface StartContext extends FaceContext {
  readonly webhooks: Webhooks
}

/** The context of every endpoint in this group. */
export interface PlatformContext extends StartContext {
  /** The response of `GET /info`. */
  readonly info: ReturnType<typeof infoOf>
}

export interface PlatformOptions {
  /** The path prefix, such as `/api` for `/api/assistants/…`. Default: that of the threads. */
  readonly basePath?: string | undefined
  /** How the webhooks of runs are delivered. Default: only to public addresses. */
  readonly webhooks?: WebhookOptions | undefined
  /** Fields of `GET /info` that the server cannot determine itself. Default: none. */
  readonly info?: ServerInfo | undefined
}

export const PLATFORM_OPTIONS: OptionTable<PlatformOptions> = {
  basePath: 'string',
  webhooks: WEBHOOK_OPTIONS,
  info: 'object',
}

/** Parts to leave out, as in the section `http` of a `langgraph.json`. Default of each: false. */
export interface PlatformSwitches {
  readonly disable_assistants?: boolean | undefined
  /** Runs and crons. */
  readonly disable_runs?: boolean | undefined
  readonly disable_store?: boolean | undefined
  /** `/ok` and `/info`, and the server's `/openapi.json`. */
  readonly disable_meta?: boolean | undefined
}

export const PLATFORM_SWITCHES: OptionTable<PlatformSwitches> = {
  disable_assistants: 'boolean',
  disable_runs: 'boolean',
  disable_store: 'boolean',
  disable_meta: 'boolean',
}

/** The fields of `/info` that a server cannot determine itself. */
export interface ServerInfo {
  /** The version of `@langchain/langgraph` that the graphs use. Default: absent. */
  readonly langgraph_js_version?: string | null | undefined
  /** Whether runs are traced to LangSmith. Default: false. */
  readonly langsmith?: boolean | undefined
}

/** The response of `GET /info`, with a flag for each feature that clients check. */
export const infoOf = (
  {
    disable_assistants,
    disable_runs,
  }: { readonly disable_assistants?: boolean | undefined; readonly disable_runs?: boolean | undefined },
  { langgraph_js_version, langsmith = false }: ServerInfo,
) => ({
  version: VERSION,
  langgraph_js_version,
  context: 'js',
  flags: {
    assistants: !disable_assistants,
    crons: !disable_runs,
    langsmith,
    langsmith_tracing_replicas: false,
  },
})
