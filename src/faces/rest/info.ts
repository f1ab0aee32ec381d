import { VERSION } from '../../core/version.ts'

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
