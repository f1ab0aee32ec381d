import type { Account, Command, ThreadAccount } from './account.ts'
import { entriesOf, violate } from './account.ts'
import type { Asked, Cluster, Reply, Trace } from './cluster.ts'
import type { Process, World } from './world.ts'

/** One thread with the client that works on it. */
export interface Conversation {
  readonly threadId: string
  readonly owner: string
  readonly agent: 'graph' | 'function' | 'resumable'
  readonly client: Process
  /** How many things the client does. */
  readonly actions: number
  readonly stepMs: number
  /** Whether it forks, and writes states. */
  readonly forks: boolean
  readonly deletes: boolean
  readonly asks: boolean
}

interface ClientOptions {
  readonly world: World
  readonly cluster: Cluster
  readonly account: Account
  readonly trace: Trace
  readonly conversations: readonly Conversation[]
  readonly fail: (violation: unknown) => void
}

/** What a rejected command may say. */
const REFUSALS = [
  'invalid_argument',
  'no_such_interrupt',
  'no_such_checkpoint',
  'no_such_run',
  'no_such_thread',
  'thread_busy',
  'outcome_unknown',
]

export function createClients({ world, cluster, account, trace, conversations, fail }: ClientOptions) {
  let marks = 0

  /** Sends a request to one instance after the other until one answers. Undefined where the client gives up. */
  async function ask(client: Process, asked: Asked, givesUp = 0): Promise<Reply | undefined> {
    const { random } = client
    for (let attempt = 0; ; attempt++) {
      const alive = cluster.alive()
      if (alive.length > 0) {
        const reply = await cluster.exchange(random.pick(alive), client, asked, 40_000)
        if (reply?.status === 500) violate(`${asked.method} ${asked.path}: ${JSON.stringify(reply.body)}`)
        if (reply && reply.status !== 503) return reply
        if (random.chance(givesUp)) return undefined
      }
      await world.sleep(random.between(20, 100 * 2 ** Math.min(attempt, 4)))
    }
  }

  const newCommand = (of: Conversation, given: Pick<Command, 'kind'> & Partial<Command>): Command => {
    const command: Command = {
      mark: ++marks,
      threadId: of.threadId,
      sentAt: world.now(),
      count: 0,
      outcome: undefined,
      answeredAt: undefined,
      runId: undefined,
      ...given,
    }
    account.commands.push(command)
    return command
  }

  /** Sends a command that starts a run, under one key until it is answered. */
  async function command(of: Conversation, made: Command, method: string, params: object): Promise<void> {
    const { client, owner, threadId } = of
    trace(client.name, `${method} #${made.mark} ${JSON.stringify(params)}`)
    const path = `/threads/${threadId}/commands`
    const body = { id: made.mark, method, params }
    const reply = await ask(client, { method: 'POST', path, owner, body, key: `key-${made.mark}` }, 0.1)
    made.answeredAt = world.now()
    if (!reply) return trace(client.name, `#${made.mark} is given up`)
    const { type, result, error, message } = reply.body
    if (type === 'success') {
      const runId: string = result.run_id
      trace(client.name, `#${made.mark} is taken as ${runId}`)
      if (made.runId !== undefined && made.runId !== runId)
        violate(`command ${made.mark} is told run ${runId}, and has ${made.runId}`)
      made.runId = runId
      made.outcome = 'taken'
      return
    }
    trace(client.name, `#${made.mark} is refused: ${error}: ${message}`)
    if (!REFUSALS.includes(error)) violate(`command ${made.mark} got ${JSON.stringify(reply)}`)
    // The server does not know either.
    if (error === 'outcome_unknown') return
    made.outcome = 'refused'
    if (made.runId !== undefined) violate(`command ${made.mark} was refused, and has run ${made.runId}`)
  }

  async function start(of: Conversation, checkpointId?: string): Promise<void> {
    const { client, agent, asks } = of
    const { random } = client
    const count = 1 + random.below(4)
    const strategy = random.pick(['enqueue', 'enqueue', 'enqueue', 'interrupt', 'rollback', 'reject'])
    const made = newCommand(of, { kind: 'start', count, strategy, ...(checkpointId && { checkpointId }) })
    const askAt = asks && random.chance(0.4) ? random.below(count) : -1
    const input = { mark: made.mark, count, stepMs: of.stepMs, askAt }
    await command(of, made, 'run.start', {
      assistant_id: agent,
      input,
      multitaskStrategy: strategy,
      ...(checkpointId && { config: { configurable: { checkpoint_id: checkpointId } } }),
    })
  }

  /** Answers the newest question of the log, which may have its answer already. */
  async function respond(of: Conversation): Promise<void> {
    const asked = account.thread(of.threadId).log.findLast(({ method }) => method === 'input.requested')
    if (!asked) return
    const { interrupt_id } = JSON.parse(asked.text).params.data as { readonly interrupt_id: string }
    const made = newCommand(of, { kind: 'respond' })
    await command(of, made, 'input.respond', { interrupt_id, response: `a${made.mark}` })
  }

  async function cancel(of: Conversation, how?: 'rollback'): Promise<void> {
    const { client, threadId, owner } = of
    const runs = account.commands.filter((one) => one.threadId === threadId && one.runId !== undefined)
    const target = runs.at(-1 - client.random.below(Math.min(2, runs.length)))?.runId
    if (!target) return
    const action = how ?? client.random.pick(['interrupt', 'rollback'])
    const made = newCommand(of, { kind: 'cancel', target, action })
    trace(client.name, `cancel #${made.mark} of ${target} with ${action}`)
    const path = `/threads/${threadId}/runs/${target}/cancel?action=${action}`
    const reply = await ask(client, { method: 'POST', path, owner })
    made.answeredAt = world.now()
    trace(client.name, `#${made.mark}: ${reply?.status}`)
    made.outcome = reply?.status === 202 ? 'taken' : 'refused'
    const run = account.thread(threadId).runs.get(target)
    const isToldOf = Boolean(run?.record?.end) || run?.record?.cancel !== null
    if (reply?.status === 202 && run?.record && !isToldOf && !account.mayBeForgotten(made))
      violate(`cancel ${made.mark} is taken, and nothing of run ${target} tells it`)
    if (![202, 404].includes(reply!.status)) violate(`cancel ${made.mark}: ${JSON.stringify(reply)}`)
  }

  /** Rolls runs or answers back in the middle of their work, and starts the next one at once. */
  async function undo(of: Conversation): Promise<void> {
    const { random } = of.client
    const begin = account.thread(of.threadId).record?.status === 'interrupted' ? respond : start
    for (let times = 1 + random.below(2); times > 0; times--) {
      await begin(of)
      await world.sleep(random.between(0, 2 * of.stepMs))
      await cancel(of, 'rollback')
    }
    // A state that is written on a restored one is what the next run continues from.
    if (of.forks && random.chance(0.5)) await write(of)
    await begin(of)
  }

  async function write(of: Conversation): Promise<void> {
    const { client, threadId, owner } = of
    const made = newCommand(of, { kind: 'write' })
    const values = of.agent === 'graph' ? { log: [`w${made.mark}`] } : { [`log:w${made.mark}`]: ['0'] }
    trace(client.name, `write #${made.mark}`)
    const path = `/threads/${threadId}/state`
    const body = { values, ...(of.agent === 'graph' && { as_node: 'step' }) }
    const reply = await ask(client, { method: 'POST', path, owner, body, key: `key-${made.mark}` })
    made.answeredAt = world.now()
    trace(client.name, `#${made.mark}: ${reply?.status} ${JSON.stringify(reply?.body)}`)
    if (![200, 404, 409].includes(reply!.status)) violate(`write ${made.mark}: ${JSON.stringify(reply)}`)
    made.outcome = reply!.status === 200 ? 'taken' : undefined
  }

  async function fork(of: Conversation): Promise<void> {
    const saved = [...account.thread(of.threadId).saved.keys()]
    if (saved.length > 0) await start(of, of.client.random.pick(saved))
  }

  async function remove(of: Conversation): Promise<void> {
    const { client, threadId, owner } = of
    const made = newCommand(of, { kind: 'delete' })
    trace(client.name, `delete #${made.mark}`)
    const reply = await ask(client, { method: 'DELETE', path: `/threads/${threadId}`, owner })
    made.answeredAt = world.now()
    made.outcome = 'taken'
    trace(client.name, `#${made.mark}: ${reply?.status}`)
    if (![204, 404].includes(reply!.status)) violate(`delete ${made.mark}: ${JSON.stringify(reply)}`)
  }

  /** The runs of a thread that were acknowledged before and have not ended. */
  const openRuns = (of: ThreadAccount): readonly string[] =>
    account.commands
      .filter((one) => one.threadId === of.threadId && one.outcome === 'taken' && one.runId !== undefined)
      .map(({ runId }) => runId!)
      .filter((runId) => {
        const run = of.runs.get(runId)
        return run && run.endedAt === undefined && !run.record?.end
      })

  /** Reads the record and the state, which must be so at some moment between the question and the answer. */
  async function look(of: Conversation): Promise<void> {
    const { client, threadId, owner } = of
    const thread = account.thread(threadId)
    const { lives } = thread
    const open = openRuns(thread)
    const reply = await ask(client, { method: 'GET', path: `/threads/${threadId}`, owner })
    if (reply?.status === 200 && lives === thread.lives && reply.body.status !== 'busy') {
      const still = openRuns(thread)
      const told = open.find((run) => still.includes(run))
      if (told) violate(`${threadId} says that it is ${reply.body.status} while run ${told} has not ended`)
    }
    await readState(of)
  }

  async function readState({ client, threadId, owner }: Conversation): Promise<void> {
    const thread = account.thread(threadId)
    const { lives } = thread
    const since = world.now()
    const state = await ask(client, { method: 'GET', path: `/threads/${threadId}/state`, owner })
    if (state?.status !== 200 || lives !== thread.lives) return
    const id: string | null = state.body.checkpoint?.checkpoint_id ?? state.body.checkpoint_id ?? null
    if (id === null) return
    const seen = thread.visible.filter(
      ({ at }, i, all) => at >= since || (all[i + 1]?.at ?? Infinity) >= since,
    )
    // After a rollback, a run's first state is shown once its process has noted it.
    if (!seen.some((one) => one.id === id) && id !== thread.active?.base)
      violate(`${threadId} shows state ${id}, and had ${seen.map((one) => one.id)}`)
    const entries = entriesOf(state.body.values)
    const due = thread.saved.get(id)?.entries
    // LangGraph shows what a task has written since, where its process was lost before the next checkpoint.
    if (due && String(due) !== String(entries) && String(due) !== String(entries.slice(0, -1)))
      violate(`${threadId} shows [${entries}] at ${id}, which has [${due}]`)
  }

  /** Waits for the end of a run, which must have ended when it is told. */
  async function join({ client, threadId, owner }: Conversation): Promise<void> {
    const runId = openRuns(account.thread(threadId)).at(-1)
    if (!runId) return
    const thread = account.thread(threadId)
    const { lives } = thread
    const path = `/threads/${threadId}/runs/${runId}/join`
    const reply = await ask(client, { method: 'GET', path, owner }, 1)
    const run = thread.runs.get(runId)
    if (reply?.status !== 200 || lives !== thread.lives) return
    if (run && run.endedAt === undefined && !run.record?.end)
      violate(`run ${runId} of ${threadId} is told to have ended: ${JSON.stringify(reply)}`)
  }

  /** Asks for a thread of another owner, which must not exist for this one. */
  async function trespass(of: Conversation): Promise<void> {
    const { client, owner } = of
    const foreign = conversations.filter((one) => one.owner !== owner)
    if (foreign.length === 0) return
    const { threadId } = client.random.pick(foreign)
    const path = `/threads/${threadId}`
    if (client.random.chance(0.5)) {
      const reply = await ask(client, { method: 'GET', path, owner })
      if (reply?.status !== 404) violate(`${owner} reads ${threadId}: ${JSON.stringify(reply)}`)
    } else {
      const reply = await ask(client, { method: 'POST', path: '/threads/search', owner, body: {} })
      const ids = (reply!.body as readonly { readonly thread_id: string }[]).map((one) => one.thread_id)
      const alien = ids.find((id) => conversations.some((one) => one.threadId === id && one.owner !== owner))
      if (alien) violate(`${owner} is listed ${alien}`)
    }
  }

  function choose(of: Conversation): (of: Conversation) => Promise<void> {
    const { random } = of.client
    const { record } = account.thread(of.threadId)
    if (record?.status === 'interrupted' && random.chance(0.7)) return random.pick([respond, respond, undo])
    const dice = random.next()
    if (dice < 0.4) return start
    if (dice < 0.52) return undo
    if (dice < 0.62) return cancel
    if (dice < 0.66) return trespass
    if (dice < 0.76) return look
    if (dice < 0.82) return join
    if (dice < 0.87) return respond
    if (of.forks) return dice < 0.94 ? fork : write
    return of.deletes && dice < 0.9 ? remove : start
  }

  /** Does one thing after the other. */
  async function live(of: Conversation): Promise<void> {
    const { random } = of.client
    const all: Promise<void>[] = []
    for (let i = 0; i < of.actions; i++) {
      const work = choose(of)(of).catch(fail)
      all.push(work)
      // Some things are done before the one before is answered.
      if (random.chance(0.8)) await work
      await world.sleep(random.between(0, random.pick([10, 300, 1_500])))
    }
    await Promise.all(all)
  }

  return { live, ask, readState, trespass }
}
