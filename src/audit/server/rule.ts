import type { AuditContext, AuditedAgents } from './context.ts'

/**
 * MUST: the published protocol requires it, or its published clients break without it.
 * SHOULD: the protocol or its clients recommend or make use of it. (RFC 2119.)
 */
export type AuditLevel = 'MUST' | 'SHOULD'

/** What a rule cannot be checked without: an assistant, or an option of the audits. */
export type Need = keyof AuditedAgents | 'webSocketFactory' | 'headers'

/** One thing that a server of the protocol must or should do. */
export interface ServerRule {
  readonly rule: string
  readonly level: AuditLevel
  readonly name: string
  readonly source: string
  readonly needs: readonly Need[]
  readonly check: (audit: AuditContext) => Promise<void>
}

type Check = ServerRule['check']

/** What the rules of one file share. */
export interface RuleDefaults {
  readonly source: string
  readonly needs?: Need | readonly Need[] | undefined
}

type RuleMaker = (rule: string, name: string, check: Check, own?: Partial<RuleDefaults>) => ServerRule

export function rules(defaults: RuleDefaults): { readonly must: RuleMaker; readonly should: RuleMaker } {
  const make =
    (level: AuditLevel): RuleMaker =>
    (rule, name, check, own) => {
      const { source, needs = [] } = { ...defaults, ...own }
      return { rule, level, name, source, needs: [needs].flat(), check }
    }
  return { must: make('MUST'), should: make('SHOULD') }
}

const REPOSITORIES = 'https://github.com/langchain-ai'

/** The published protocol, by the section of its README. */
export const protocol = (section: string): string =>
  `${REPOSITORIES}/agent-protocol/blob/main/streaming/README.md#${section}`

/** The published protocol's schema, which also says how threads, streams and message events behave. */
export const SCHEMA = `${REPOSITORIES}/agent-protocol/blob/main/streaming/protocol.cddl`

/** The JavaScript client of streams, which says more than the specification about what it relies on. */
export const STREAM_CLIENT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk/src/client/stream`

/** The client for Python, which over web sockets has one for each subscription, and sends its commands over HTTP. */
export const PYTHON_CLIENT = `${REPOSITORIES}/langgraph/tree/main/libs/sdk-py/langgraph_sdk/stream`

/** The JavaScript client of threads, their state and their history. */
export const THREAD_CLIENT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk/src/client/threads`

/** The JavaScript client of runs. */
export const RUN_CLIENT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk/src/client/runs`

/** The hooks, which cannot show what these rules ask for unless it is there. */
export const REACT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk-react/src`

/** LangChain's example applications of the protocol. */
export const EXAMPLES = `${REPOSITORIES}/deployment-cookbook/tree/main/js-next`

/** The HTML standard on event streams. */
export const SSE = 'https://html.spec.whatwg.org/multipage/server-sent-events.html'
