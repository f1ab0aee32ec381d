import type { ClientTool } from '../../agents/model-request.ts'
import type { OptionTable } from '../../core/options.ts'
import type { FaceContext } from '../kit/routes.ts'
import type { Shape } from './parts.ts'

export interface AiSdkOptions {
  /** The prefix of `/chat`. Default: `/api`, the prefix that `useChat` uses. */
  readonly basePath?: string | undefined
  /**
   * The assistant for all chats of this mount. Default: the request's `assistantId`, otherwise the thread's
   * assistant, otherwise the engine's default.
   */
  readonly assistantId?: string | undefined
  /**
   * The type of tool calls in messages. `static`: `tool-<name>`, for pages with typed tools. `dynamic`:
   * `dynamic-tool`. Default: `dynamic`.
   */
  readonly tools?: 'dynamic' | 'static' | undefined
  /**
   * The client-side tools, which the page runs with `onToolCall` or `addToolOutput`. The agent receives them
   * as `config.configurable.client_tools`. Default: none.
   */
  readonly clientTools?: readonly ClientTool[] | undefined
}

export const AI_SDK_OPTIONS: OptionTable<AiSdkOptions> = {
  basePath: 'string',
  assistantId: 'string',
  tools: 'string',
  clientTools: 'list',
}

/** The context of every endpoint of this face. */
export interface AiSdkContext extends FaceContext {
  readonly options: AiSdkOptions
  readonly shape: Shape
}
