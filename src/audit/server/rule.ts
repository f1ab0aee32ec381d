import type { Scene } from './scene.ts'

/**
 * MUST: the published protocol requires it, or its published clients break without it.
 * SHOULD: the protocol or its clients recommend or make use of it. (RFC 2119.)
 */
export type AuditLevel = 'MUST' | 'SHOULD'

/** Assistants of the audited server that behave in a way some rules need. Rules whose assistant is not named are skipped. */
export interface AuditedAgents {
  /** Asks once, with any payload, and completes after any answer. */
  readonly interrupt?: string | undefined
  /** Streams a message for at least a second and at most three, unless it is cancelled. */
  readonly slow?: string | undefined
  /** Throws: its run fails. */
  readonly failing?: string | undefined
  /** Sends custom events, at least one of them with a name. */
  readonly custom?: string | undefined
  /** Calls a tool. */
  readonly tools?: string | undefined
  /** Has a subagent or subgraph, so that its run has events at least two namespaces deep. */
  readonly nested?: string | undefined
}

/** One thing that a server of the protocol must or should do. */
export interface ServerRule {
  readonly rule: string
  readonly level: AuditLevel
  readonly name: string
  readonly source: string
  readonly needs?: keyof AuditedAgents | undefined
  readonly check: (scene: Scene) => Promise<void>
}

type Check = ServerRule['check']

/** What the rules of one file share. */
export interface RuleDefaults {
  readonly source: string
  readonly needs?: keyof AuditedAgents | undefined
}

type RuleMaker = (rule: string, name: string, check: Check, own?: Partial<RuleDefaults>) => ServerRule

export function rules(defaults: RuleDefaults): { readonly must: RuleMaker; readonly should: RuleMaker } {
  const make =
    (level: AuditLevel): RuleMaker =>
    (rule, name, check, own) => ({ rule, level, name, check, ...defaults, ...own })
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
