import type { AuditContext, AuditedAgents } from './context.ts'

/**
 * MUST: the published protocol requires it, or its published clients break without it.
 * SHOULD: the protocol or its clients recommend or make use of it. (RFC 2119.)
 */
export type AuditLevel = 'MUST' | 'SHOULD'

/** What a rule cannot be checked without: an assistant, or an option of the audits. */
export type Need = keyof AuditedAgents | 'webSocketFactory' | 'headers'

/** One thing that a server of the protocol must or should do. */
export interface Requirement {
  readonly level: AuditLevel
  readonly name: string
  readonly source: string
  readonly needs: readonly Need[]
}

export interface ServerRule extends Requirement {
  /** Its id. */
  readonly rule: string
  readonly check: (audit: AuditContext) => Promise<void>
}

/** `source` and `needs` where they are not those of the file. */
type Require = (name: string, source?: string, ...needs: readonly Need[]) => Requirement

/** Makes the requirements of a file, which share a source and needs. */
export function rules(
  source: string,
  ...needs: readonly Need[]
): Readonly<Record<'must' | 'should', Require>> {
  const at =
    (level: AuditLevel): Require =>
    (name, ownSource = source, ...ownNeeds) => ({
      level,
      name,
      source: ownSource,
      needs: ownNeeds.length > 0 ? ownNeeds : needs,
    })
  return { must: at('MUST'), should: at('SHOULD') }
}

/** How the rules of a file are checked, by their ids. */
export type Checks<Id extends string> = Readonly<Record<Id, ServerRule['check']>>

/** The rules of a file. */
export const rulesOf = <Id extends string>(
  requirements: Readonly<Record<Id, Requirement>>,
  checks: Checks<Id>,
): readonly ServerRule[] =>
  (Object.keys(requirements) as Id[]).map((rule) => ({ rule, ...requirements[rule], check: checks[rule] }))

const REPOSITORIES = 'https://github.com/langchain-ai'

/** The published protocol, by the section of its README. */
export const protocol = (section: string): string =>
  `${REPOSITORIES}/agent-protocol/blob/main/streaming/README.md#${section}`

/** The published protocol's schema, which also says how threads, streams and message events behave. */
export const SCHEMA = `${REPOSITORIES}/agent-protocol/blob/main/streaming/protocol.cddl`

/** The JavaScript client of streams, which says more than the specification about what it relies on. */
export const STREAM_CLIENT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk/src/client/stream`

/** The client for Python: a web socket for each subscription, and commands over HTTP. */
export const PYTHON_CLIENT = `${REPOSITORIES}/langgraph/tree/main/libs/sdk-py/langgraph_sdk/stream`

/** The JavaScript client of threads, their state and their history. */
export const THREAD_CLIENT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk/src/client/threads`

/** The JavaScript client of runs. */
export const RUN_CLIENT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk/src/client/runs`

/** The hooks, which cannot show what these rules ask for unless it is there. */
export const REACT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk-react/src`

/** LangChain's example applications of the protocol. */
export const EXAMPLES = `${REPOSITORIES}/deployment-cookbook/tree/main/js-next`
