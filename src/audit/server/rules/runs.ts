import { equal, hold } from '../../check.ts'
import type { AuditThread } from '../context.ts'
import { at, checkpointOf, isEnding, isRoot, messageIds, rootStates } from '../events.ts'
import {
  accepted,
  type Checks,
  mentions,
  protocol,
  REACT,
  RUN_CLIENT,
  rules,
  rulesOf,
  THREAD_CLIENT,
} from '../rule.ts'

const LIFECYCLE = protocol('lifecycle')
const { must, should } = rules(LIFECYCLE)

/** An id in the format of run ids. */
const NO_RUN = '01900000-0000-7000-8000-000000000000'

/** Rules about an active run: a client cancels it or starts another. */
const busy = rules(RUN_CLIENT, 'slow')

const RULES = {
  'runs.one-ending': must('Each run of a thread starts once and ends once'),
  'runs.ending-last': must('All events of a run come between its start and its end'),
  'runs.message-ids-kept': must('Messages keep their client-generated ids', REACT),
  'runs.fork': should(
    'A run from an earlier checkpoint continues from it, without the later messages',
    THREAD_CLIENT,
  ),
  'runs.failed': must('A run that fails ends with failed and the error message', REACT, 'failing'),
  'runs.failed.next': must('After a run has failed, the next run can start', LIFECYCLE, 'failing'),
  'cancel.ends': busy.must('Cancel responds with 2xx, and the run ends as interrupted, without an error'),
  'cancel.unknown': must('Cancel of an unknown run is 404', RUN_CLIENT),
  'cancel.wait': busy.should('Cancel with wait=1 responds when the run has ended'),
  'cancel.ended': should('Cancel of a run that has ended changes nothing', RUN_CLIENT),
  'multitask.enqueue': busy.should('enqueue: a new run waits for the active one'),
  'multitask.default': busy.should('Without a strategy, a new run waits for the active one'),
  'multitask.reject': busy.should(
    'reject: a new run is rejected while another is active, and does not start',
  ),
  'multitask.interrupt': busy.should(
    'interrupt: the active run ends as interrupted, then the new run starts',
  ),
  'multitask.rollback': busy.should('rollback: the active run leaves nothing in the state'),
  'multitask.cancel-queued': busy.should('A queued run can be cancelled, and then never starts'),
}

const checks: Checks<keyof typeof RULES> = {
  async 'runs.one-ending'({ thread }) {
    const { events } = await thread().run(3)
    equal('the states', rootStates(events), Array(3).fill(['running', 'completed']).flat())
  },
  async 'runs.ending-last'({ thread }) {
    const { events } = await thread().run()
    hold('the first event', isRoot(events[0]!), 'the start of the run', events[0]?.sent)
    hold('the last event', isEnding(events.at(-1)!), 'the end of the run', events.at(-1)?.sent)
  },
  async 'runs.message-ids-kept'({ thread, input }) {
    const one = thread()
    const sent = input('Hello')
    const [id] = messageIds(sent)
    await (await one.begin({ input: sent })).untilEnd()
    const ids = messageIds(at(await one.idle(), 'values'))
    hold('the ids of the messages', id === undefined || ids.includes(id), String(id), ids)
  },
  async 'runs.fork'({ thread, input }) {
    const one = thread()
    const { state } = await one.finish()
    await (await one.begin({ input: input('To be left behind') })).untilEnd()
    await one.idle()
    const config = { configurable: { checkpoint_id: checkpointOf(state) } }
    const stream = await one.begin({ input: input('To be kept'), config })
    equal('the state of the newest run', rootStates(await stream.untilEnd()).at(-1), 'completed')
    const values = at(await one.idle(), 'values')
    mentions('the state', values, 'To be kept')
    mentions('the state', values, 'To be left behind', false)
  },
  async 'runs.failed'({ thread, agents }) {
    const { events } = await thread(agents.failing).run()
    equal('the states', rootStates(events), ['running', 'failed'])
    const error = at(events.filter(isEnding)[0]!.data, 'error')
    hold('the error', typeof error === 'string' && error !== '', 'its text', error)
  },
  async 'runs.failed.next'({ thread, agents }) {
    const { events } = await thread(agents.failing).run(2)
    equal('the states', rootStates(events), ['running', 'failed', 'running', 'failed'])
  },
  async 'cancel.ends'({ thread, agents }) {
    const one = thread(agents.slow)
    const run = await one.start()
    const stream = await one.stream()
    await stream.until('the start of the run', (events) => events.some(isRoot))
    const status = await cancel(one, run, '?wait=0&action=interrupt')
    accepted('cancel', status)
    const events = await stream.untilEnd()
    equal('the states', rootStates(events), ['running', 'interrupted'])
    equal('the error', at(events.filter(isEnding)[0]!.data, 'error'), undefined)
  },
  async 'cancel.unknown'({ thread }) {
    const one = thread()
    equal('the status without a thread', await cancel(one, NO_RUN), 404)
    await one.run()
    equal('the status without a run', await cancel(one, NO_RUN), 404)
  },
  async 'cancel.wait'({ thread, agents }) {
    const one = thread(agents.slow)
    const run = await one.start()
    await cancel(one, run, '?wait=1')
    const stream = await one.stream()
    equal('the state', at(await one.request('GET', ''), 'body', 'status'), 'idle')
    equal('the ending', rootStates(await stream.untilEnd()).at(-1), 'interrupted')
  },
  async 'cancel.ended'({ thread }) {
    const one = thread()
    const { runIds, stream, state } = await one.finish()
    const status = await cancel(one, runIds[0]!)
    hold('the status of cancel', status < 500, 'no error of the server', status)
    equal('the state', await one.idle(), state)
    await one.start()
    const events = await stream.untilEnd(2)
    equal('the states', rootStates(events), ['running', 'completed', 'running', 'completed'])
  },
  'multitask.enqueue': ({ thread, agents }) => waits(thread(agents.slow), 'enqueue'),
  'multitask.default': ({ thread, agents }) => waits(thread(agents.slow)),
  async 'multitask.reject'({ thread, agents }) {
    const one = thread(agents.slow)
    const stream = await one.begin()
    await one.refused(['invalid_argument'], 'run.start', { multitaskStrategy: 'reject' })
    await stream.untilEnd()
    await one.idle()
    equal('the states', rootStates(stream.events), ['running', 'completed'])
  },
  async 'multitask.interrupt'({ thread, agents }) {
    const states = await replaced(thread(agents.slow), 'interrupt')
    equal('the states', states, ['running', 'interrupted', 'running', 'completed'])
  },
  async 'multitask.rollback'({ thread, agents, input }) {
    const one = thread(agents.slow)
    const states = await replaced(one, 'rollback', input('To be rolled back'))
    equal('the states', states, ['running', 'interrupted', 'running', 'completed'])
    mentions('the state', at(await one.idle(), 'values'), 'To be rolled back', false)
  },
  async 'multitask.cancel-queued'({ thread, agents }) {
    const one = thread(agents.slow)
    const stream = await one.begin()
    const status = await cancel(one, await one.start(), '?wait=1')
    accepted('cancel', status)
    await stream.untilEnd()
    await one.idle()
    equal('the states', rootStates(stream.events), ['running', 'completed'])
  },
}

export const runRules = /* @__PURE__ */ rulesOf(RULES, checks)

async function replaced(one: AuditThread, multitaskStrategy: string, input?: unknown): Promise<unknown[]> {
  const stream = await one.begin(input === undefined ? {} : { input })
  await stream.until('the start of the run', (events) => events.some(isRoot))
  await one.start({ multitaskStrategy })
  return rootStates(await stream.untilEnd(2))
}

/** Checks that a second run with this strategy starts after the first has ended. */
async function waits(one: AuditThread, multitaskStrategy?: string): Promise<void> {
  const stream = await one.begin()
  const second = await one.start({ multitaskStrategy })
  const events = await stream.until('the start of the second run', (seen) => seen.filter(isRoot).length > 2)
  equal('the states', rootStates(events), ['running', 'completed', 'running'])
  await cancel(one, second)
}

const cancel = (one: AuditThread, run: string, query = ''): Promise<number> =>
  one.status('POST', `/runs/${run}/cancel${query}`)
