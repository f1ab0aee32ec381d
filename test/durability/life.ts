import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../kit/client.ts'
import { request } from '../kit/client.ts'
import { isRoot } from '../kit/events.ts'
import type { StepsInput, Token, TokensInput } from './agents.ts'
import type { Follower } from './follower.ts'
import { randomMs } from './scene.ts'

/** What clients did to one thread, and which of it the servers acknowledged. */
export interface Life {
  readonly threadId: string
  readonly assistant: 'steps' | 'tokens' | 'talk'
  readonly follower: Follower
  /** The runs that were acknowledged. */
  readonly runs: Set<string>
  /** The texts that were sent as answers, by whether they were taken. */
  readonly answers: { readonly taken: Set<string>; readonly refused: Set<string> }
  /** Whether a fork, a written state or a rollback may have made the checkpoints a tree. */
  branched: boolean
  /** Whether runs may begin at earlier checkpoints, which leaves those after them in no state. */
  readonly forks: boolean
  /** Whether its states are large. */
  readonly large: boolean
  deleted: boolean
}

/** Gives the origin of an instance, another one each time. It may be killed at any moment. */
export type Origin = () => string

const STRATEGIES = ['enqueue', 'enqueue', 'enqueue', 'interrupt', 'rollback', 'reject'] as const
const NO_ANSWER = [
  'invalid_argument',
  'no_such_interrupt',
  'no_such_checkpoint',
  'no_such_run',
  'outcome_unknown',
]
/** Characters. */
const LARGE = 200_000
let keys = 0

/** Does one thing after the other to a thread, at random, until `over`. */
export async function live(life: Life, origin: Origin, over: () => boolean): Promise<void> {
  while (!over() && !life.deleted) {
    await chooseAction(life)(life, origin)
    await sleep(randomMs(300))
  }
}

type Action = (life: Life, origin: Origin) => Promise<void>

function chooseAction({ follower, forks }: Life): Action {
  const dice = Math.random()
  if (dice < 0.01) return remove
  const waits = follower.seen.findLast(isRoot)?.params.data.event === 'interrupted'
  if (dice < (waits ? 0.85 : 0.1)) return respond
  if (dice < 0.6) return start
  if (dice < 0.8) return undo
  if (dice < 0.9) return cancel
  return dice < 0.95 && forks ? fork : write
}

async function start(life: Life, origin: Origin): Promise<void> {
  const multitaskStrategy = pick(STRATEGIES)
  if (multitaskStrategy === 'rollback') life.branched = true
  await run(life, origin, 'run.start', {
    assistant_id: life.assistant,
    input: inputOf(life),
    multitaskStrategy,
  })
}

function inputOf({ assistant, follower, large }: Life): StepsInput | TokensInput {
  if (assistant !== 'steps') return { count: 5 + randomMs(100), everyMs: 2 }
  const last = follower.seen.findLast(({ method }) => method === 'custom')
  const next = last ? (last.params.data.payload as Token).n + 1 : 0
  const ballast = large ? { ballast: LARGE } : {}
  return { count: next + 1 + randomMs(6), stepMs: 10 + randomMs(60), askAt: next + randomMs(6), ...ballast }
}

/** Answers the newest question, which may have its answer already. */
async function respond(life: Life, origin: Origin): Promise<void> {
  const asked = life.follower.seen.findLast(({ method }) => method === 'input.requested')
  if (!asked) return
  const response = `yes-${++keys}`
  const { interrupt_id } = asked.params.data
  const taken = await run(life, origin, 'input.respond', { interrupt_id, response })
  life.answers[taken ? 'taken' : 'refused'].add(response)
}

/** Rolls a run back in the middle of its work, and starts the next one at once. */
async function undo(life: Life, origin: Origin): Promise<void> {
  await start(life, origin)
  await sleep(randomMs(200))
  await stop(life, origin, 'rollback')
  await start(life, origin)
}

const cancel: Action = (life, origin) => stop(life, origin, pick(['interrupt', 'interrupt', 'rollback']))

async function stop(life: Life, origin: Origin, action: string): Promise<void> {
  const runId = [...life.runs].at(-1)
  if (!runId) return
  if (action === 'rollback') life.branched = true
  const { status } = await send(() =>
    request(origin(), 'POST', `/threads/${life.threadId}/runs/${runId}/cancel?action=${action}`),
  )
  // The thread may have been given up between, and its runs with it.
  expectStatus(status, [202])
}

async function fork(life: Life, origin: Origin): Promise<void> {
  const { status, body } = await send(() =>
    request(origin(), 'POST', `/threads/${life.threadId}/history`, { limit: 20 }),
  )
  expectStatus(status, [200, 404])
  if (status === 404 || body.length === 0) return
  life.branched = true
  const { checkpoint_id } = pick<(typeof body)[number]>(body).checkpoint
  const config = { configurable: { checkpoint_id } }
  await run(life, origin, 'run.start', {
    assistant_id: life.assistant,
    input: inputOf(life),
    config,
  })
}

async function write(life: Life, origin: Origin): Promise<void> {
  life.branched = true
  const values = life.assistant === 'steps' ? { log: ['w@0'] } : { n: 0 }
  const key = `key-${++keys}`
  const { status } = await send(() =>
    request(origin(), 'POST', `/threads/${life.threadId}/state`, { values }, { 'idempotency-key': key }),
  )
  expectStatus(status, [200, 404, 409])
}

async function remove(life: Life, origin: Origin): Promise<void> {
  // Other clients may go on with the thread meanwhile: they must be refused, and change nothing.
  life.deleted = true
  const { status } = await send(() => request(origin(), 'DELETE', `/threads/${life.threadId}`))
  expectStatus(status, [204, 404])
}

/** Sends a command that starts a run, under one key until it is answered. Tells whether it was taken. */
async function run(life: Life, origin: Origin, method: string, params: object): Promise<boolean> {
  const headers = { 'idempotency-key': `key-${++keys}` }
  const path = `/threads/${life.threadId}/commands`
  const { status, body } = await send(() =>
    request(origin(), 'POST', path, { id: 1, method, params }, headers),
  )
  if (body?.type === 'success') {
    life.runs.add(body.result.run_id)
    return true
  }
  if (!NO_ANSWER.includes(body?.error)) throw new Error(`${method}: ${status} ${JSON.stringify(body)}`)
  return false
}

/** Retries a request where its instance was killed or is not there. */
async function send(request: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      const answer = await request()
      if (answer.status !== 503) return answer
    } catch (error) {
      // An answer may also be cut in its middle.
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error
    }
    await sleep(50)
  }
}

function expectStatus(status: number, expected: readonly number[]): void {
  if (!expected.includes(status)) throw new Error(`Status ${status} where ${expected} was due.`)
}

const pick = <T>(choices: readonly T[]): T => choices[randomMs(choices.length)]!
