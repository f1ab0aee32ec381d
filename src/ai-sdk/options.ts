import type { ClientTool } from '../face/client-tools.ts'
import type { OptionTable } from '../options.ts'

export interface AiSdkOptions {
  /** The prefix of `/chat`. Default: `/api`, where `useChat` looks. */
  readonly basePath?: string | undefined
  /** The assistant of all chats of this mount. Default: what a request names as `assistantId`, else that of the thread, else the engine's. */
  readonly assistantId?: string | undefined
  /**
   * How the calls of tools are named in messages. `static`: as `tool-<name>`, for pages that have types for their tools. `dynamic`: as
   * `dynamic-tool`. Default: `dynamic`.
   */
  readonly tools?: 'dynamic' | 'static' | undefined
  /**
   * The tools that the page runs itself, with `onToolCall` or `addToolOutput`. The agent finds them as `config.configurable.client_tools`.
   * Default: none.
   */
  readonly clientTools?: readonly ClientTool[] | undefined
}

export const AI_SDK_OPTIONS: OptionTable<AiSdkOptions> = {
  basePath: 'string',
  assistantId: 'string',
  tools: 'string',
  clientTools: 'list',
}
