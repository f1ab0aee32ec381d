import { AgentwireError } from '../errors.ts'
import { checkOptions, type OptionTable } from '../options.ts'

export interface McpOptions {
  /** Such as `/api`, for `/api/mcp`. Default: none. */
  readonly basePath?: string | undefined
  /** Which agents are tools, by their ids. Default: all of them. */
  readonly agents?: readonly string[] | undefined
  /** Whether the assistants that clients have made over the REST are tools too, the newest 100 of the caller's. Default: false. */
  readonly stored?: boolean | undefined
  /**
   * What tools take. `message`: a text, where the agent keeps messages; else what the agent's input schema says. `schema`: always
   * that, also where it is a list of messages. Default: `message`.
   */
  readonly input?: 'message' | 'schema' | undefined
  /** Whether callers may go on with a conversation, by an argument `threadId` that each answer names. Default: true. */
  readonly threads?: boolean | undefined
  /** Whether there is the tool `answer_question`, for clients that show no forms. Default: true. */
  readonly answers?: boolean | undefined
  /** Calls that take long become tasks, for clients that can follow them. False: never. Default: after 5 seconds. */
  readonly tasks?: McpTaskOptions | false | undefined
  /** The name of the server, as hosts show it. Default: `agentwire`. */
  readonly name?: string | undefined
  /** What a model should know of all tools of this server. Default: nothing. */
  readonly instructions?: string | undefined
  /** Where callers get the tokens that `authenticate` takes. Default: the server does not say. */
  readonly protectedResource?: McpResource | undefined
}

export interface McpTaskOptions {
  /** How long a call may take before it becomes a task, in milliseconds. Default: 5000. */
  readonly afterMs?: number | undefined
  /** How often clients should ask for a task, in milliseconds. Default: 2000. */
  readonly pollIntervalMs?: number | undefined
}

/** The metadata of a protected resource (RFC 9728, §2). */
export interface McpResource {
  /** The issuers of tokens, such as `https://login.example.com`. At least one. */
  readonly authorizationServers: readonly string[]
  /** What tokens may be asked for. Default: nothing is said of it. */
  readonly scopes?: readonly string[] | undefined
  /** The URL for which tokens are issued. Default: the one that the client has called. */
  readonly resource?: string | undefined
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
