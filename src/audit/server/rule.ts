import type * as z from 'zod/mini'
import { equal, hold } from '../check.ts'
import type { AuditContext, AuditedAgents } from './context.ts'
import { idsOf, sentOf, type WireEvent } from './events.ts'
import type { Reader } from './stream.ts'

/**
 * As in RFC 2119. MUST: the published protocol requires it, or its published clients break without it.
 * SHOULD: the protocol recommends it, or its clients use it.
 */
export type AuditLevel = 'MUST' | 'SHOULD'

/** What a rule needs to run: an assistant or an option of the audits. */
export type Need = keyof AuditedAgents | 'webSocketFactory' | 'headers'

/** One requirement of a protocol server. */
interface Requirement {
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

export const RUN_CLIENT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk/src/client/runs`

/** The React hooks, which need what these rules require. */
export const REACT = `${REPOSITORIES}/langgraphjs/tree/main/libs/sdk-react/src`

/** LangChain's example applications of the protocol. */
export const EXAMPLES = `${REPOSITORIES}/deployment-cookbook/tree/main/js-next`

/** Checks that a request was accepted. */
export const accepted = (what: string, status: number): void =>
  hold(`the status of ${what}`, status >= 200 && status < 300, '2xx', status)

/** Checks that no event is repeated. */
export function unrepeated(events: readonly WireEvent[]): void {
  const ids = idsOf(events)
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index)
  equal('the repeated ids', repeated, [])
}

/** Checks that two subscribers receive the same events until `runs` runs have ended. */
export async function agree(
  readers: readonly [Reader, Reader],
  runs = 1,
  what: (events: readonly WireEvent[]) => unknown = sentOf,
): Promise<void> {
  const [first, second] = await Promise.all(readers.map((reader) => reader.untilEnd(runs)))
  equal('the events of the second reader', what(second!), what(first!))
}

/** Resumes after each of three events with `open`, and checks that exactly the later events arrive. */
export async function resumes(
  events: readonly WireEvent[],
  open: (after: WireEvent) => Promise<Reader & { close(): unknown }>,
): Promise<void> {
  for (const index of new Set([0, events.length >> 1, events.length - 2])) {
    const after = events[index]!
    const later = events.slice(index + 1)
    const what = `the events after ${after.event_id}, number ${after.seq}`
    const reader = await open(after)
    const seen = await reader.until(what, (some) => some.length >= later.length)
    equal(what, sentOf(seen), sentOf(later))
    await reader.close()
  }
}

/** Checks that a text occurs in a value, or that it does not. */
export const mentions = (what: string, value: unknown, text: string, isThere = true): void =>
  hold(what, JSON.stringify(value).includes(text) === isThere, `${isThere ? '' : 'no '}${text}`, value)

/** Loads Zod with the first value that is checked. */
const schemas = () => import('./wire.ts')

export type ShapedMethod = keyof Awaited<ReturnType<typeof schemas>>['data']

function fits(what: string, schema: z.ZodMiniType, value: unknown): void {
  const issue = schema.safeParse(value).error?.issues[0]
  if (!issue) return
  const keys = issue.path.filter((key) => typeof key === 'string').toReversed()
  hold(what, false, [issue.message, ...keys].join(' in '), value)
}

/** Checks the fields that every event needs. */
export const isEnvelope = async (sent: unknown): Promise<void> =>
  fits('an event', (await schemas()).event, sent)

export const isData = async (method: ShapedMethod, data: unknown): Promise<void> =>
  fits(`the data of a ${method} event`, (await schemas()).data[method], data)

/** Checks a state of a thread. */
export const isState = async (value: unknown): Promise<void> =>
  fits('a state', (await schemas()).state, value)

export const isFlatMessage = async (value: unknown): Promise<void> =>
  fits('a message of the state', (await schemas()).message, value)
