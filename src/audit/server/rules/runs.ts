import { equal, hold } from '../../check.ts'
import type { AuditThread } from '../context.ts'
import { at, hasEnded, isEnding, isRoot, listOf, rootStates } from '../events.ts'
import { protocol, REACT, RUN_CLIENT, rules, THREAD_CLIENT } from '../rule.ts'

const { must, should } = rules({ source: protocol('lifecycle') })

export const runRules = [
  must('runs.one-ending', 'Each run of a thread is running and then ends once', async ({ thread }) => {
    const { events } = await thread().run(3)
    equal('the states', rootStates(events), Array(3).fill(['running', 'completed']).flat())
  }),
  must(
    'runs.ending-last',
    'What a run tells of itself comes between its start and its end',
    async ({ thread }) => {
      const { events } = await thread().run()
      hold('the first event', isRoot(events[0]!), 'the start of the run', events[0]?.sent)
      hold('the last event', isEnding(events.at(-1)!), 'the end of the run', events.at(-1)?.sent)
    },
  ),
  must(
    'runs.message-ids-kept',
    'Messages keep the ids that their client made',
    async ({ thread, input }) => {
      const one = thread()
      const sent = input('Hello')
      const [id] = listOf(at(sent, 'messages')).map((message) => at(message, 'id'))
      const { stream } = await runWith(one, { input: sent })
      stream.close()
      const ids = listOf(at(await one.idle(), 'values', 'messages')).map((message) => at(message, 'id'))
      hold('the ids of the messages', id === undefined || ids.includes(id), String(id), ids)
    },
    { source: REACT },
  ),
  should(
    'runs.fork',
    'A run from an earlier checkpoint goes on from there, without what came later',
    async ({ thread, input }) => {
      const one = thread()
      await one.run()
      const checkpoint_id = at(await one.idle(), 'checkpoint', 'checkpoint_id')
      await runWith(one, { input: input('To be left behind') })
      await one.idle()
      const config = { configurable: { checkpoint_id } }
      const { events } = await runWith(one, { input: input('To be kept'), config })
      equal('the state of the newest run', rootStates(events).at(-1), 'completed')
      const values = JSON.stringify(at(await one.idle(), 'values'))
      hold(
        'the state',
        values.includes('To be kept') && !values.includes('To be left behind'),
        'only the fork',
        values,
      )
    },
    { source: THREAD_CLIENT },
  ),
  must(
    'runs.failed',
    'A run that fails ends in failed with the text of its error',
    async ({ thread, agents }) => {
      const { events } = await thread(agents.failing).run()
      equal('the states', rootStates(events), ['running', 'failed'])
      const error = at(events.filter(isEnding)[0]!.data, 'error')
      hold('the error', typeof error === 'string' && error !== '', 'its text', error)
    },
    { needs: 'failing', source: REACT },
  ),
  must(
    'runs.failed.next',
    'After a run has failed the next one starts',
    async ({ thread, agents }) => {
      const { events } = await thread(agents.failing).run(2)
      equal('the states', rootStates(events), ['running', 'failed', 'running', 'failed'])
    },
    { needs: 'failing' },
  ),
]

/** An id like those of runs. */
const NO_RUN = '01900000-0000-7000-8000-000000000000'

/** How a client cancels: the button that stops an answer. */
const cancels = rules({ source: RUN_CLIENT, needs: 'slow' })

export const cancelRules = [
  cancels.must(
    'cancel.ends',
    'Cancel is answered with 2xx, and the run ends interrupted, without an error',
    async ({ thread, agents }) => {
      const one = thread(agents.slow)
      const run = await one.start()
      const stream = await one.stream()
      await stream.until('the start of the run', (events) => events.some(isRoot))
      const status = await cancel(one, run, '?wait=0&action=interrupt')
      hold('the status of cancel', status >= 200 && status < 300, '2xx', status)
      const events = await stream.until('the end of the run', hasEnded(1))
      equal('the states', rootStates(events), ['running', 'interrupted'])
      equal('the error', at(events.filter(isEnding)[0]!.data, 'error'), undefined)
    },
  ),
  cancels.must(
    'cancel.unknown',
    'Cancel of a run that is not there is 404',
    async ({ thread }) => {
      const one = thread()
      equal('the status without a thread', await cancel(one, NO_RUN), 404)
      await one.run()
      equal('the status without a run', await cancel(one, NO_RUN), 404)
    },
    { needs: undefined },
  ),
  cancels.should(
    'cancel.wait',
    'Cancel with wait=1 is answered when the run has ended',
    async ({ thread, agents }) => {
      const one = thread(agents.slow)
      const run = await one.start()
      await cancel(one, run, '?wait=1')
      const stream = await one.stream()
      equal('the state', at(await one.request('GET', ''), 'body', 'status'), 'idle')
      equal('the ending', rootStates(await stream.until('the end', hasEnded(1))).at(-1), 'interrupted')
    },
  ),
  cancels.should(
    'cancel.ended',
    'Cancel of a run that has ended changes nothing',
    async ({ thread }) => {
      const one = thread()
      const { runIds, stream } = await one.run()
      const before = await one.idle()
      const status = await cancel(one, runIds[0]!)
      hold('the status of cancel', status < 500, 'no error of the server', status)
      equal('the state', await one.idle(), before)
      await one.start()
      const events = await stream.until('the end of the next run', hasEnded(2))
      equal('the states', rootStates(events), ['running', 'completed', 'running', 'completed'])
    },
    { needs: undefined },
  ),
]

/** What a run does that is started while another goes on. */
const multitask = rules({ source: RUN_CLIENT, needs: 'slow' })

export const multitaskRules = [
  ...(['enqueue', undefined] as const).map((strategy) =>
    multitask.should(
      `multitask.${strategy ?? 'default'}`,
      `${strategy ?? 'Without a strategy'}: a new run waits for the one in progress`,
      async ({ thread, agents }) => {
        const one = thread(agents.slow)
        await one.start()
        const stream = await one.stream()
        const second = await one.start({ multitaskStrategy: strategy })
        const events = await stream.until(
          'the start of the second run',
          (seen) => seen.filter(isRoot).length > 2,
        )
        equal('the states', rootStates(events), ['running', 'completed', 'running'])
        await cancel(one, second)
      },
    ),
  ),
  multitask.should(
    'multitask.reject',
    'reject: a run beside one in progress is refused, and does not start',
    async ({ thread, agents }) => {
      const one = thread(agents.slow)
      await one.start()
      const stream = await one.stream()
      await one.refused(['invalid_argument'], 'run.start', { multitaskStrategy: 'reject' })
      await stream.until('the end of the run', hasEnded(1))
      await one.idle()
      equal('the states', rootStates(stream.events), ['running', 'completed'])
    },
  ),
  multitask.should(
    'multitask.interrupt',
    'interrupt: the run in progress ends interrupted, then the new one starts',
    async ({ thread, agents }) => {
      const states = await replaced(thread(agents.slow), 'interrupt')
      equal('the states', states, ['running', 'interrupted', 'running', 'completed'])
    },
  ),
  multitask.should(
    'multitask.rollback',
    'rollback: the run in progress leaves nothing in the state',
    async ({ thread, agents, input }) => {
      const one = thread(agents.slow)
      const states = await replaced(one, 'rollback', input('To be rolled back'))
      equal('the states', states, ['running', 'interrupted', 'running', 'completed'])
      const values = JSON.stringify(at(await one.idle(), 'values'))
      hold('the state', !values.includes('To be rolled back'), 'nothing of the first run', values)
    },
  ),
  multitask.should(
    'multitask.cancel-queued',
    'A run that waits can be cancelled, and never starts',
    async ({ thread, agents }) => {
      const one = thread(agents.slow)
      await one.start()
      const stream = await one.stream()
      const status = await cancel(one, await one.start(), '?wait=1')
      hold('the status of cancel', status >= 200 && status < 300, '2xx', status)
      await stream.until('the end of the first run', hasEnded(1))
      await one.idle()
      equal('the states', rootStates(stream.events), ['running', 'completed'])
    },
  ),
]

async function replaced(one: AuditThread, multitaskStrategy: string, input?: unknown): Promise<unknown[]> {
  await one.start(input === undefined ? {} : { input })
  const stream = await one.stream()
  await stream.until('the start of the run', (events) => events.some(isRoot))
  await one.start({ multitaskStrategy })
  return rootStates(await stream.until('the end of both runs', hasEnded(2)))
}

async function runWith(one: AuditThread, params: Readonly<Record<string, unknown>>) {
  await one.start(params)
  const stream = await one.stream()
  return { events: await stream.until('the end of the run', hasEnded(1)), stream }
}

async function cancel(one: AuditThread, run: string, query = ''): Promise<number> {
  return (await one.request('POST', `/runs/${run}/cancel${query}`)).status
}
