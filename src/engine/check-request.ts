import { AgentwireError } from '../core/errors.ts'
import { lazy } from '../core/lazy.ts'
import { nearest } from '../core/nearest.ts'
import { checkOptions, type OptionTable, type Table } from '../core/options.ts'
import { RunError } from './errors.ts'
import type { MultitaskStrategy, StoredConfig } from './records/records.ts'
import type { Answers, RunRequest, ThreadAddress } from './requests.ts'

/**
 * Checks what code on the server passes to the engine, as the server's faces check what clients send: a
 * misspelled name is an error and is not ignored.
 */

const ADDRESS: OptionTable<ThreadAddress> = { threadId: ['required', 'string'], principal: 'object' }

const CONFIG: OptionTable<StoredConfig> = {
  configurable: ['required', 'object'],
  recursionLimit: 'positive',
  tags: 'list',
  metadata: 'object',
  context: 'any',
  interruptBefore: ['string', 'list'],
  interruptAfter: ['string', 'list'],
  durability: 'string',
  checkpointNs: 'string',
  checkpointMap: 'object',
}

/** Made with the first request, so that a bundler can drop what is not used. */
const tables = /* @__PURE__ */ lazy(() => {
  const RUN: OptionTable<Omit<RunRequest, 'input'>> = {
    ...ADDRESS,
    assistantId: 'string',
    checkpointId: 'string',
    isNewThread: 'boolean',
    mustExist: 'boolean',
    multitaskStrategy: 'string',
    config: CONFIG,
    classic: 'object',
    context: 'object',
    settingsFrom: 'string',
    title: 'string',
    metadata: 'object',
    command: 'object',
    answer: 'object',
    startAfterMs: 'number',
    details: 'any',
    temporary: 'boolean',
    ttl: 'object',
    extraOps: 'list',
    runId: 'string',
    threadMetadata: 'object',
    threadConfig: 'object',
    request: 'object',
    traceparent: 'string',
    looked: 'object',
  }

  const START: OptionTable<RunRequest> = { ...RUN, input: 'any' }

  /** With the fields of a start that do not matter to a run that answers. */
  const RESPOND: Table = {
    ...RUN,
    ...({ answers: ['required', 'object'], update: 'any', goto: 'any' } satisfies OptionTable<
      Pick<Answers, 'answers' | 'update' | 'goto'>
    >),
  }

  /** A receipt, which has more fields, may be spread into it. */
  const WAIT: Table = { ...ADDRESS, runId: ['required', 'string'], signal: 'object', '*': 'any' }

  return { start: START, respond: RESPOND, wait: WAIT } as const
})

const STRATEGIES: readonly MultitaskStrategy[] = ['reject', 'rollback', 'interrupt', 'enqueue']

/** Null counts as absent where it is documented. */
const NULLABLE: ReadonlySet<string> = new Set(['principal', 'checkpointId', 'traceparent'])

/** The request. Throws `invalid_argument`. */
export function checked<Request extends object>(
  name: keyof ReturnType<typeof tables>,
  request: Request,
): Request {
  const call = `engine.${name}`
  try {
    const given = Object.entries(request ?? {}).filter(([key, value]) => value !== null || !NULLABLE.has(key))
    checkOptions(call, typeof request === 'object' ? Object.fromEntries(given) : request, tables()[name])
  } catch (error) {
    throw error instanceof AgentwireError ? new RunError('invalid_argument', error.message) : error
  }
  const { threadId, multitaskStrategy: strategy } = request as Partial<RunRequest>
  if (threadId === '') throw new RunError('invalid_argument', `${call}: threadId must not be empty.`)
  if (strategy !== undefined && !STRATEGIES.includes(strategy)) {
    const meant = nearest(strategy, STRATEGIES)
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
    throw new RunError(
      'invalid_argument',
      `${call}: multitaskStrategy must be one of ${STRATEGIES.join(', ')}, not ${JSON.stringify(strategy)}.${hint}`,
    )
  }
  return request
}
