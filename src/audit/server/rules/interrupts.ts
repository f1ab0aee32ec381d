import { equal, hold } from '../../check.ts'
import type { AuditContext, AuditThread } from '../context.ts'
import { at, dataOf, hasEnded, isEnding, listOf, rootStates } from '../events.ts'
import { PYTHON_CLIENT, protocol, REACT, rules, SCHEMA, STREAM_CLIENT } from '../rule.ts'
import type { AuditStream } from '../stream.ts'

const { must, should } = rules({ source: protocol('input'), needs: 'interrupt' })

export const interruptRules = [
  must(
    'interrupts.requested',
    'A run that asks sends input.requested once, and then ends interrupted',
    async (audit) => {
      const { stream } = await asking(audit)
      equal('the states', rootStates(stream.events), ['running', 'interrupted'])
      const methods = stream.events.filter((event) => event.method === 'input.requested' || isEnding(event))
      equal(
        'the events',
        methods.map(({ method }) => method),
        ['input.requested', 'lifecycle'],
      )
    },
  ),
  should(
    'interrupts.value',
    'input.requested has its payload under value, too',
    async (audit) => {
      const { asked } = await asking(audit)
      equal('value', at(asked, 'value'), at(asked, 'payload'))
    },
    { source: PYTHON_CLIENT },
  ),
  must(
    'interrupts.state',
    'The state lists open interrupts with their ids, and what comes next',
    async (audit) => {
      const { one, id } = await asking(audit)
      const state = await one.state()
      equal('the interrupts of the state', openIn(state), [id])
      hold('next', listOf(at(state, 'next')).length > 0, 'at least one node', at(state, 'next'))
    },
    { source: REACT },
  ),
  must(
    'interrupts.unmarked',
    'Interrupts do not show as values or updates',
    async (audit) => {
      const { stream } = await asking(audit)
      const told = JSON.stringify([...dataOf(stream.events, 'values'), ...dataOf(stream.events, 'updates')])
      hold('values and updates', !told.includes('__interrupt__'), 'no __interrupt__', told)
    },
    { source: REACT },
  ),
  must(
    'interrupts.respond',
    'input.respond lets the run go on to its end, and leaves nothing open',
    async (audit) => {
      const { one, id, stream } = await asking(audit)
      await one.ok('input.respond', { namespace: [], interrupt_id: id, response: 'yes' })
      const events = await stream.until('the end of the resumed run', hasEnded(2))
      equal('the states', rootStates(events), ['running', 'interrupted', 'running', 'completed'])
      equal('the open interrupts', openIn(await one.idle()), [])
    },
  ),
  must(
    'interrupts.respond.list',
    'input.respond takes a list of answers',
    async (audit) => {
      const { one, id, stream } = await asking(audit)
      await one.ok('input.respond', { responses: [{ namespace: [], interrupt_id: id, response: 'yes' }] })
      const events = await stream.until('the end of the resumed run', hasEnded(2))
      equal('the last state', rootStates(events).at(-1), 'completed')
    },
    { source: SCHEMA },
  ),
  must(
    'interrupts.respond.namespace',
    'The namespace of an answer is advice: its id is enough',
    async (audit) => {
      const { one, id, stream } = await asking(audit)
      await one.ok('input.respond', { namespace: ['nowhere:1'], interrupt_id: id, response: 'yes' })
      const events = await stream.until('the end of the resumed run', hasEnded(2))
      equal('the last state', rootStates(events).at(-1), 'completed')
    },
    { source: REACT },
  ),
  should(
    'interrupts.respond.run-id',
    'input.respond gives the id of the run, so that it can be cancelled',
    async (audit) => {
      const { one, id } = await asking(audit)
      const result = await one.ok('input.respond', { namespace: [], interrupt_id: id, response: 'yes' })
      hold('the result', typeof at(result, 'run_id') === 'string', 'a run_id', result)
    },
    { source: SCHEMA },
  ),
  must(
    'interrupts.respond.unknown',
    'An answer to an unknown interrupt is refused with no_such_interrupt, and the open one stays',
    async (audit) => {
      const { one, id } = await asking(audit)
      const params = { namespace: [], interrupt_id: 'no-such-interrupt', response: 'yes' }
      await one.refused(['no_such_interrupt'], 'input.respond', params)
      equal('the open interrupts', openIn(await one.state()), [id])
    },
    { source: SCHEMA },
  ),
  must(
    'interrupts.respond.invalid',
    'An answer that names no interrupt is refused with invalid_argument',
    async (audit) => {
      const { one, id } = await asking(audit)
      for (const params of [{}, { responses: [] }, { interrupt_id: 7, response: 'yes' }])
        await one.refused(['invalid_argument'], 'input.respond', params)
      equal('the open interrupts', openIn(await one.state()), [id])
    },
    { source: SCHEMA },
  ),
  must(
    'interrupts.respond.twice',
    'An interrupt can be answered once',
    async (audit) => {
      const { one, id, stream } = await asking(audit)
      const params = { namespace: [], interrupt_id: id, response: 'yes' }
      await one.ok('input.respond', params)
      await one.refused(['no_such_interrupt'], 'input.respond', params)
      await stream.until('the end of the resumed run', hasEnded(2))
      await one.refused(['no_such_interrupt'], 'input.respond', params)
    },
    { source: SCHEMA },
  ),
  must(
    'interrupts.none',
    'An answer where nothing was asked is refused, and starts nothing',
    async ({ thread }) => {
      const one = thread()
      const params = { namespace: [], interrupt_id: 'no-such-interrupt', response: 'yes' }
      await one.refused(['no_such_run', 'no_such_interrupt'], 'input.respond', params)
      const { stream } = await one.run()
      await one.refused(['no_such_interrupt'], 'input.respond', params)
      equal('the states', rootStates(stream.events), ['running', 'completed'])
    },
    { source: SCHEMA, needs: undefined },
  ),
  must(
    'interrupts.run-start',
    'run.start on a thread that waits for an answer gives its input as the answer',
    async (audit) => {
      const { one, stream } = await asking(audit)
      await one.start({ input: 'yes' })
      const events = await stream.until('the end of the resumed run', hasEnded(2))
      equal('the states', rootStates(events), ['running', 'interrupted', 'running', 'completed'])
      equal('the open interrupts', openIn(await one.idle()), [])
    },
    { source: protocol('threads-runs-and-input') },
  ),
  must(
    'interrupts.replay',
    'A new reader is told of open interrupts, and not of answered ones',
    async (audit) => {
      const { one, id, stream } = await asking(audit)
      const late = await one.stream()
      equal('what is open', asksOf(await late.until('the end of the run', hasEnded(1))), [id])
      await one.ok('input.respond', { namespace: [], interrupt_id: id, response: 'yes' })
      await stream.until('the end of the resumed run', hasEnded(2))
      await one.idle()
      const later = await one.stream()
      equal('what is open after the answer', asksOf(await later.until('the newest run', hasEnded(1))), [])
    },
    { source: STREAM_CLIENT },
  ),
]

interface Asking {
  readonly one: AuditThread
  readonly id: string
  readonly asked: unknown
  readonly stream: AuditStream
}

/** A thread whose run has asked and waits. */
async function asking({ thread, agents }: AuditContext): Promise<Asking> {
  const one = thread(agents.interrupt)
  const { stream } = await one.run()
  const [asked] = dataOf(stream.events, 'input.requested')
  const id = at(asked, 'interrupt_id')
  hold('input.requested', typeof id === 'string' && id !== '', 'an interrupt_id', asked)
  return { one, id: id as string, asked, stream }
}

const asksOf = (events: AuditStream['events']): unknown[] =>
  dataOf(events, 'input.requested').map((data) => at(data, 'interrupt_id'))

/** The ids of the open interrupts of a state, each once: nested ones may be listed by their parents, too. */
function openIn(state: unknown): unknown[] {
  const interrupts = listOf(at(state, 'tasks')).flatMap((task) => listOf(at(task, 'interrupts')))
  return [...new Set(interrupts.map((interrupt) => at(interrupt, 'id')))]
}
