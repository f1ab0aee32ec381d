import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server'
import { AgentwireError } from '../../core/errors.ts'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { FaceCall, FaceContext } from '../kit/routes.ts'

export interface McpOptions {
  /** The path prefix, such as `/api` for `/api/mcp`. Default: none. */
  readonly basePath?: string | undefined
  /** The ids of the agents that are tools. Default: all. */
  readonly agents?: readonly string[] | undefined
  /**
   * Whether assistants that clients created over REST are also tools: the caller's newest 100. Default:
   * false.
   */
  readonly stored?: boolean | undefined
  /**
   * The arguments of tools. `message`: a text if the agent keeps messages, otherwise the agent's input
   * schema. `schema`: always the input schema, even if it is a list of messages. Default: `message`.
   */
  readonly input?: 'message' | 'schema' | undefined
  /**
   * Whether callers can continue a conversation with the argument `threadId`, which each answer returns.
   * Default: true.
   */
  readonly threads?: boolean | undefined
  /** Whether there is a tool `answer_question`, for clients that cannot show forms. Default: true. */
  readonly answers?: boolean | undefined
  /**
   * When a long call becomes a task, for clients that can follow tasks. False: never. Default: after 5
   * seconds.
   */
  readonly tasks?: McpTaskOptions | false | undefined
  /** The server's name, as hosts show it. Default: `agentwire`. */
  readonly name?: string | undefined
  /** Instructions for models about the tools of this server. Default: none. */
  readonly instructions?: string | undefined
  /** Where callers get the tokens that `authenticate` accepts. Default: not published. */
  readonly protectedResource?: McpResource | undefined
}

export interface McpTaskOptions {
  /** How long a call may take before it becomes a task, in milliseconds. Default: 5000. */
  readonly afterMs?: number | undefined
  /** The recommended polling interval of a task, in milliseconds. Default: 2000. */
  readonly pollIntervalMs?: number | undefined
}

/** The metadata of a protected resource (RFC 9728, §2). */
export interface McpResource {
  /** The token issuers, such as `https://login.example.com`. At least one. */
  readonly authorizationServers: readonly string[]
  /** The scopes that clients may request. Default: not published. */
  readonly scopes?: readonly string[] | undefined
  /** The URL that tokens are issued for. Default: the URL that the client called. */
  readonly resource?: string | undefined
}

/** The context of every endpoint of this face. */
export interface McpContext extends FaceContext {
  readonly options: McpOptions
  /** Whether callers must authenticate. */
  readonly isGuarded: boolean
  readonly allowsOrigin: (origin: string) => boolean
}

const MCP_OPTIONS: OptionTable<McpOptions> = {
  basePath: 'string',
  agents: 'list',
  stored: 'boolean',
  input: 'string',
  threads: 'boolean',
  answers: 'boolean',
  tasks: ['false', { afterMs: 'number', pollIntervalMs: 'positive' } satisfies OptionTable<McpTaskOptions>],
  name: 'string',
  instructions: 'string',
  protectedResource: {
    authorizationServers: ['required', 'list'],
    scopes: 'list',
    resource: 'string',
  } satisfies OptionTable<McpResource>,
}

/** Throws `AgentwireError` (`invalid_argument`). */
export function checkMcpOptions(name: string, options: McpOptions): void {
  checkOptions(name, options, MCP_OPTIONS)
  const { input, protectedResource } = options
  if (input !== undefined && input !== 'message' && input !== 'schema')
    throw new AgentwireError('invalid_argument', `${name}: input must be "message" or "schema".`)
  const isIssuer = (one: unknown): boolean => typeof one === 'string' && URL.canParse(one)
  const { authorizationServers: issuers = [] } = protectedResource ?? {}
  if (protectedResource && (issuers.length === 0 || !issuers.every(isIssuer)))
    throw new AgentwireError(
      'invalid_argument',
      `${name}: protectedResource.authorizationServers must be a list of URLs.`,
    )
}

/** One request of MCP. */
export interface McpCall {
  readonly context: McpContext
  readonly call: FaceCall
  readonly request: ServerContext['mcpReq']
  /** Revision 2026-07-28. */
  readonly isModern: boolean
}

export type Fields = Readonly<Record<string, unknown>>

/** The tasks extension. Source: SEP-2663. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** The client's capabilities. In earlier revisions a client sends them once, and this server is stateless. */
function capabilitiesOf({ isModern, request: { envelope } }: McpCall): Fields {
  return isModern ? Object((envelope as Fields | undefined)?.[CLIENT_CAPABILITIES_META_KEY]) : {}
}

export const takesTasks = (asked: McpCall): boolean => {
  const { extensions } = capabilitiesOf(asked)
  return asked.context.options.tasks !== false && TASKS in Object(extensions)
}

/** Whether the client shows forms. A client that lists no mode does. */
export function takesForms(asked: McpCall): boolean {
  const { elicitation } = capabilitiesOf(asked)
  if (typeof elicitation !== 'object' || elicitation === null) return false
  return 'form' in elicitation || Object.keys(elicitation).length === 0
}
