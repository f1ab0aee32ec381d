import {
  type Account,
  entriesOf,
  type RunAccount,
  type ThreadAccount,
  Violation,
  violate,
} from './account.ts'
import type { Conversation, createClients } from './clients.ts'
import type { Cluster, Trace } from './cluster.ts'
import { CALL_LIMIT_MS, type Database } from './database.ts'
import type { Misfortune, Plan } from './plan.ts'
import type { createReaders } from './readers.ts'
import type { World } from './world.ts'

interface End {
  readonly world: World
  readonly cluster: Cluster
  readonly database: Database
  readonly account: Account
  readonly conversations: readonly Conversation[]
  readonly clients: ReturnType<typeof createClients>
  readonly readers: ReturnType<typeof createReaders>
  readonly plan: Plan
  readonly trace: Trace
}

/** More than a step and its calls take. */
const STEP_MS = 1_000

/** Waits until everything has settled, and checks what must be so then. */
export async function checkEnd(end: End): Promise<void> {
  const { world, account, conversations, clients, readers, plan, trace, database } = end
  await settled(end)
  trace('course', 'everything has settled')
  readers.hurry()
  await readers.renew(conversations)
  for (const of of conversations) await clients.readState(of)
  // A call that has hung is given up after its time limit. Its reader comes back then.
  const complete = world.now() + CALL_LIMIT_MS + 5_000
  for (;;) {
    const difference = readers.readers.map(readers.differenceOf).find((one) => one !== undefined)
    if (difference === undefined) break
    if (world.now() > complete) violate(difference)
    await world.sleep(50)
  }
  readers.leave()
  await world.sleep(2_000)
  const before = end.cluster.calls()
  // Longer than it takes to find a lease that was left.
  const idleMs = 1.5 * plan.leaseTtlMs
  const logs = [...account.threads.values()].map(({ changedAt }) => changedAt)
  await world.sleep(idleMs)
  const moved = [...account.threads.values()].find(({ changedAt }, i) => changedAt !== logs[i])
  if (moved) violate(`${moved.threadId} has changed after it had settled`)
  requireFewCalls(end, end.cluster.calls() - before, idleMs)
  for (const thread of account.threads.values()) checkThread(end, thread)
  requireBudget(end)
  const leases = await database.store.expired({ limit: 10 })
  if (leases.length > 0) violate(`a lease is left: ${JSON.stringify(leases)}`)
}

/** A lease that a lost process left is found once it has expired. */
const isBusy = ({ record, active, lease }: ThreadAccount): boolean =>
  active !== undefined ||
  lease !== undefined ||
  (record !== undefined && (record.queue.length > 0 || record.deleting))

/** Settles when nothing runs or waits. A thread that has work must get on within two leases. */
async function settled({ world, account, plan, conversations }: End): Promise<void> {
  const since = world.now()
  const stepMs = Math.max(...conversations.map((one) => one.stepMs))
  for (;;) {
    const busy = [...account.threads.values()].filter(isBusy)
    if (busy.length === 0) return
    const running = Math.max(...busy.filter((one) => one.active).map((one) => one.changedAt), 0)
    for (const { threadId, changedAt, record, active } of busy) {
      // A run waits for the end of others where only so many may run at once.
      const waitsFor = active || plan.runs > 1 ? 0 : running
      const restMs = world.now() - Math.max(since, changedAt, waitsFor)
      if (restMs > 2 * plan.leaseTtlMs + stepMs + STEP_MS)
        violate(
          `${threadId} does not get on for ${Math.round(restMs)} ms: active ${active?.runId}, waiting ${record?.queue.length}, ${record?.status}${record?.deleting ? ', deleting' : ''}`,
        )
    }
    await world.sleep(200)
  }
}

/** What an idle cluster asks its database for. */
function requireFewCalls({ cluster, plan }: End, calls: number, idleMs: number): void {
  const instances = cluster.alive().length
  const looks = idleMs / (plan.leaseTtlMs / 3)
  const most = instances * (looks * 8 + 30)
  if (calls > most)
    violate(`${instances} idle instances made ${calls} calls in ${idleMs} ms, and ${most} are due`)
}

/** Twice what an instance makes at its start, and what one thing takes, with retries after conflicts and failures. */
const PER_INSTANCE = 40
const PER_RUN = 40
const PER_COMMAND = 14
/** What an instance tries in a second while the database is away. */
const PER_AWAY_SECOND = 10
/** What led to a write that the database has forgotten. */
const PER_FORGOTTEN = 3

/** What the whole course asked the database for. */
function requireBudget({ world, cluster, account, readers, plan, database }: End): void {
  const threads = [...account.threads.values()]
  const runs = threads.reduce((sum, one) => sum + one.runs.size, 0)
  const events = threads.reduce((sum, one) => sum + one.log.length, 0)
  const seconds = world.now() / 1_000
  const looks = plan.size * seconds * (6 / (plan.leaseTtlMs / 3_000))
  const reads = readers.readers.length * (seconds * 2 + events)
  const commands = account.commands.length * PER_COMMAND
  const retries = plan.size * (database.awayMs() / 1_000) * PER_AWAY_SECOND
  const again = database.forgottenWrites() * PER_FORGOTTEN
  const most = cluster.births() * PER_INSTANCE + runs * PER_RUN + commands + looks + reads + retries + again
  if (cluster.calls() > most)
    violate(`the course made ${cluster.calls()} calls, and ${Math.round(most)} are due`)
}

function checkThread(end: End, thread: ThreadAccount): void {
  const { threadId, record, log } = thread
  if (record && record.activeRunId !== null) violate(`${threadId} has active run ${record.activeRunId}`)
  for (const run of thread.runs.values()) checkRun(end, thread, run)
  const own = end.account.commands.filter((one) => one.threadId === threadId)
  const deleted = own.findLast(({ kind, outcome }) => kind === 'delete' && outcome === 'taken')
  if (deleted && !end.account.mayBeForgotten(deleted)) {
    const isAlone = own.every(
      ({ kind, answeredAt, outcome }) =>
        kind === 'delete' || outcome === 'refused' || (answeredAt ?? Infinity) < deleted.sentAt,
    )
    if (isAlone && (record || log.length > 0 || thread.saved.size > 0))
      violate(`${threadId} was deleted by command ${deleted.mark}, and is there`)
  }
  if (thread.deletedAt !== undefined) return
  for (const command of end.account.commands) {
    if (command.threadId !== threadId || command.outcome !== 'taken' || command.runId === undefined) continue
    if (end.account.mayBeForgotten(command)) continue
    if (!thread.runs.has(command.runId)) violate(`run ${command.runId} of command ${command.mark} is lost`)
  }
  requireTold(end.account, thread)
  // Answers are taken once.
  const answers = log.length === 0 ? [] : entriesAtHead(thread).flatMap((entry) => entry.split('=')[1] ?? [])
  const twice = answers.find((answer, i) => answers.indexOf(answer) !== i)
  if (twice !== undefined) violate(`${threadId} has answer ${twice} twice: ${entriesAtHead(thread)}`)
  const refused = end.account.commands.filter(({ outcome }) => outcome === 'refused')
  const wrong = refused.find(({ mark }) => answers.includes(`a${mark}`))
  if (wrong) violate(`${threadId} has the refused answer of command ${wrong.mark}`)
}

/** What its last run left in the state is what its events told last. */
function requireTold(account: Account, { threadId, log, saved, head, runs }: ThreadAccount): void {
  const writer = head === null ? undefined : saved.get(head)?.runId
  const last = [...runs.values()].findLast(({ begunAt }) => begunAt !== undefined)
  // What a lost process saved last it could not tell any more.
  if (writer === undefined || last?.runId !== writer || last.isRolledBack || last.end === 'failed') return
  if (account.mayLackLast(last)) return
  const told = log.findLast(
    ({ method, text, runId }) =>
      method === 'values' && runId === writer && JSON.parse(text).params.namespace.length === 0,
  )
  // A process that was lost may have told a step that it did not save, and another one has ended its run, which was cancelled.
  const end = log.findLast(({ method, runId }) => method === 'lifecycle' && runId === writer)
  if (last.end === 'interrupted' && told && end && told.token !== end.token) return
  const before = last.base === null ? [] : (saved.get(last.base)?.entries ?? [])
  const entries = told ? entriesOf(JSON.parse(told.text).params.data) : before
  if (String(entries) !== String(saved.get(head!)!.entries))
    violate(
      `${threadId} has [${saved.get(head!)!.entries}], and run ${writer} (${last.end}) told [${entries}]`,
    )
}

const entriesAtHead = ({ saved, head }: ThreadAccount): readonly string[] =>
  head === null ? [] : (saved.get(head)?.entries ?? [])

/** A run that can be continued is given up if it loses three processes, and for nothing else. */
const MOST_LOSSES = 3

/** What makes a process that is well look like a lost one: calls that take longer than a lease, and forgotten events. */
const LIKE_LOSSES: readonly Misfortune[] = ['weather', 'hang', 'forget']

function requireLosses({ account, conversations, plan }: End, run: RunAccount, said: string): void {
  const { command, record, endedAt } = run
  if (!record || endedAt === undefined) return
  const { agent } = conversations.find(({ threadId }) => threadId === command!.threadId)!
  const losses = account.harmedAt.filter((at) => at >= command!.sentAt && at <= endedAt).length
  if (record.end?.reason === 'lost' && agent !== 'function' && losses < MOST_LOSSES)
    violate(`${said} is given up after ${record.attempts} attempts, and ${losses} processes were harmed`)
  const counted = record.attempts - 1 - (record.excused?.length ?? 0)
  if (counted > losses && !LIKE_LOSSES.some((kind) => plan.kinds.includes(kind)))
    violate(`${said} counts ${counted} lost processes, and ${losses} were harmed`)
}

function checkRun(end: End, thread: ThreadAccount, run: RunAccount): void {
  const { threadId } = thread
  const { runId, record, command } = run
  if (!record || !command) throw new Violation(`run ${runId} of ${threadId} has no record`)
  if (!record.end) violate(`run ${runId} of ${threadId} has not ended: ${record.status}`)
  const begun = run.begunAt !== undefined
  if (begun && run.end === undefined) violate(`run ${runId} of ${threadId} has no last event`)
  const others = end.account.commands.filter((one) => one.threadId === threadId && one !== command)
  const stops = others.filter(
    (one) =>
      one.kind === 'delete' ||
      (one.kind === 'cancel' && one.outcome !== 'refused') ||
      (one.kind === 'start' && (one.strategy === 'interrupt' || one.strategy === 'rollback')),
  )
  const isQuiet = end.plan.kinds.length === 0
  const said = `run ${runId} of ${threadId} (command ${command.mark})`
  requireLosses(end, run, said)
  if (!begun) {
    // Its question was answered, or the state that it forks from was deleted.
    const isFork = command.checkpointId !== undefined && thread.wasCleared
    const isWithdrawn = isFork || command.kind === 'respond' || run.isAnswer
    if (stops.length === 0 && !isWithdrawn) violate(`${said} never began, and nobody dropped it`)
    return
  }
  if (run.end === 'failed') {
    if (isQuiet) violate(`${said} failed in a course without faults: ${record.error}`)
    return
  }
  if (run.end === 'interrupted') {
    const asks = record.end!.reason === null
    if (!asks && record.cancel !== null && stops.length === 0) violate(`${said} was stopped by nobody`)
    if (!asks && record.cancel === null && isQuiet) violate(`${said} was stopped by nobody`)
    return
  }
  if (end.account.mayLackLast(run)) return
  const saved = run.last === undefined ? undefined : thread.saved.get(run.last)
  const entries = saved?.entries ?? []
  if (saved && saved.openCalls.length > 0)
    violate(`${said} is complete, and calls ${saved.openCalls} have no result`)
  if (command.kind === 'start' && record.status === 'success' && run.last !== undefined) {
    const own = entries.filter((entry) => entry.startsWith(`${command.mark}.`)).length
    const isAnswer = entries.some((entry) => entry.includes(`"mark":${command.mark},`))
    if (!isAnswer && own !== command.count)
      violate(`${said} is complete with ${own} of ${command.count} steps: [${entries}]`)
  } else if (command.kind === 'start' && command.count > 0 && run.last === undefined)
    violate(`${said} is complete and has saved nothing`)
}
