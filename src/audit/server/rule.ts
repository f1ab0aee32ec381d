import type { AuditContext, AuditedAgents } from './context.ts'

/**
 * As in RFC 2119. MUST: the published protocol requires it, or its published clients break without it.
 * SHOULD: the protocol recommends it, or its clients use it.
 */
export type AuditLevel = 'MUST' | 'SHOULD'

/** What a rule needs to run: an assistant or an option of the audits. */
export type Need = keyof AuditedAgents | 'webSocketFactory' | 'headers'

/** One requirement of a protocol server. */
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

/** `source` and `needs` override those of the file. */
type Require = (name: string, source?: string, ...needs: readonly Need[]) => Requirement

/** Creates the requirements of a file, which share a source and needs. */
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

/** The checks of a file's rules, by rule id. */
export type Checks<Id extends string> = Readonly<Record<Id, ServerRule['check']>>

/** The rules of a file. */
export const rulesOf = <Id extends string>(
  requirements: Readonly<Record<Id, Requirement>>,
  checks: Checks<Id>,
): readonly ServerRule[] =>
  (Object.keys(requirements) as Id[]).map((rule) => ({ rule, ...requirements[rule], check: checks[rule] }))

const REPOSITORIES = 'https://github.com/langchain-ai'

/** A section of the published protocol's README. */
export const protocol = (section: string): string =>
  `${REPOSITORIES}/agent-protocol/blob/main/streaming/README.md#${section}`

/** The published protocol's schema. It also documents the behavior of threads, streams and message events. */
export const SCHEMA = `${REPOSITORIES}/agent-protocol/blob/main/streaming/protocol.cddl`

/** The JavaScript stream client, which relies on more than the specification says. */
export const STREAM_CLIENT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk/src/client/stream`

/** The Python client: one web socket for each subscription, and commands over HTTP. */
export const PYTHON_CLIENT = `${REPOSITORIES}/langgraph/tree/main/libs/sdk-py/langgraph_sdk/stream`

/** The JavaScript client for threads, their state and their history. */
export const THREAD_CLIENT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk/src/client/threads`

/** The JavaScript client for runs. */
export const RUN_CLIENT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk/src/client/runs`

/** The React hooks, which need what these rules require. */
export const REACT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk-react/src`

/** LangChain's example applications of the protocol. */
export const EXAMPLES = `${REPOSITORIES}/deployment-cookbook/tree/main/js-next`
