import { equal, hold } from '../../check.ts'
import type { AuditContext, AuditThread } from '../context.ts'
import { at, dataOf, isEnding, listOf, rootStates } from '../events.ts'
import {
  type Checks,
  mentions,
  PYTHON_CLIENT,
  protocol,
  REACT,
  rules,
  rulesOf,
  SCHEMA,
  STREAM_CLIENT,
} from '../rule.ts'
import type { AuditStream } from '../stream.ts'

const { must, should } = rules(protocol('input'), 'interrupt')

/** A response to an interrupt that does not exist. */
const UNASKED = { namespace: [], interrupt_id: 'no-such-interrupt', response: 'yes' }

const RULES = {
  'interrupts.requested': must(
    'A run that raises an interrupt sends input.requested once, then ends as interrupted',
  ),
  'interrupts.value': should('input.requested also has its payload in value', PYTHON_CLIENT),
  'interrupts.state': must('The state lists open interrupts with their ids, and the next nodes', REACT),
  'interrupts.unmarked': must('Interrupts do not appear in values or updates events', REACT),
  'interrupts.respond': must('input.respond resumes the run to its end and leaves no open interrupt'),
  'interrupts.respond.list': must('input.respond accepts a list of responses', SCHEMA),
  'interrupts.respond.namespace': must(
    'The namespace of a response is optional: the interrupt id is enough',
    REACT,
  ),
  'interrupts.respond.run-id': should(
    'input.respond returns the run_id, so that the run can be cancelled',
    SCHEMA,
  ),
  'interrupts.respond.unknown': must(
    'A response to an unknown interrupt is rejected with no_such_interrupt, and the open interrupt remains',
    SCHEMA,
  ),
  'interrupts.respond.invalid': must(
    'A response without an interrupt id is rejected with invalid_argument',
    SCHEMA,
  ),
  'interrupts.respond.twice': must('An interrupt can be answered only once', SCHEMA),
  'interrupts.none': rules(SCHEMA).must('A response is rejected if no interrupt is open, and starts no run'),
  'interrupts.run-start': must(
    'run.start on an interrupted thread answers the interrupt with its input',
    protocol('threads-runs-and-input'),
  ),
  'interrupts.replay': must(
    'A new subscriber receives open interrupts, but not answered ones',
    STREAM_CLIENT,
  ),
}

const checks: Checks<keyof typeof RULES> = {
  async 'interrupts.requested'(audit) {
    const { stream } = await asking(audit)
    equal('the states', rootStates(stream.events), ['running', 'interrupted'])
    const told = stream.events.filter((event) => event.method === 'input.requested' || isEnding(event))
    const methods = told.map(({ method }) => method)
    equal('the events', methods, ['input.requested', 'lifecycle'])
  },
  async 'interrupts.value'(audit) {
    const { asked } = await asking(audit)
    equal('value', at(asked, 'value'), at(asked, 'payload'))
  },
  async 'interrupts.state'(audit) {
    const { one, id } = await asking(audit)
    const state = await one.state()
    equal('the interrupts of the state', openIn(state), [id])
    hold('next', listOf(at(state, 'next')).length > 0, 'at least one node', at(state, 'next'))
  },
  async 'interrupts.unmarked'(audit) {
    const { stream } = await asking(audit)
    const told = [...dataOf(stream.events, 'values'), ...dataOf(stream.events, 'updates')]
    mentions('values and updates', told, '__interrupt__', false)
  },
  async 'interrupts.respond'(audit) {
    const { one, answer, stream } = await asking(audit)
    await one.ok('input.respond', answer)
    const events = await stream.untilEnd(2)
    equal('the states', rootStates(events), ['running', 'interrupted', 'running', 'completed'])
    equal('the open interrupts', openIn(await one.idle()), [])
  },
  async 'interrupts.respond.list'(audit) {
    const { one, answer, stream } = await asking(audit)
    await one.ok('input.respond', { responses: [answer] })
    const events = await stream.untilEnd(2)
    equal('the last state', rootStates(events).at(-1), 'completed')
  },
  async 'interrupts.respond.namespace'(audit) {
    const { one, answer, stream } = await asking(audit)
    await one.ok('input.respond', { ...answer, namespace: ['nowhere:1'] })
    const events = await stream.untilEnd(2)
    equal('the last state', rootStates(events).at(-1), 'completed')
  },
  async 'interrupts.respond.run-id'(audit) {
    const { one, answer } = await asking(audit)
    const result = await one.ok('input.respond', answer)
    hold('the result', typeof at(result, 'run_id') === 'string', 'a run_id', result)
  },
  async 'interrupts.respond.unknown'(audit) {
    const { one, id } = await asking(audit)
    await one.refused(['no_such_interrupt'], 'input.respond', UNASKED)
    equal('the open interrupts', openIn(await one.state()), [id])
  },
  async 'interrupts.respond.invalid'(audit) {
    const { one, id } = await asking(audit)
    for (const params of [{}, { responses: [] }, { interrupt_id: 7, response: 'yes' }])
      await one.refused(['invalid_argument'], 'input.respond', params)
    equal('the open interrupts', openIn(await one.state()), [id])
  },
  async 'interrupts.respond.twice'(audit) {
    const { one, answer, stream } = await asking(audit)
    await one.ok('input.respond', answer)
    await one.refused(['no_such_interrupt'], 'input.respond', answer)
    await stream.untilEnd(2)
    await one.refused(['no_such_interrupt'], 'input.respond', answer)
  },
  async 'interrupts.none'({ thread }) {
    const one = thread()
    await one.refused(['no_such_run', 'no_such_interrupt'], 'input.respond', UNASKED)
    const { stream } = await one.run()
    await one.refused(['no_such_interrupt'], 'input.respond', UNASKED)
    equal('the states', rootStates(stream.events), ['running', 'completed'])
  },
  async 'interrupts.run-start'(audit) {
    const { one, stream } = await asking(audit)
    await one.start({ input: 'yes' })
    const events = await stream.untilEnd(2)
    equal('the states', rootStates(events), ['running', 'interrupted', 'running', 'completed'])
    equal('the open interrupts', openIn(await one.idle()), [])
  },
  async 'interrupts.replay'(audit) {
    const { one, id, answer, stream } = await asking(audit)
    equal('what is open', asksOf(await one.replay()), [id])
    await one.ok('input.respond', answer)
    await stream.untilEnd(2)
    await one.idle()
    equal('what is open after the answer', asksOf(await one.replay()), [])
  },
}

export const interruptRules = /* @__PURE__ */ rulesOf(RULES, checks)

interface Asking {
  readonly one: AuditThread
  readonly id: string
  /** The event's data. */
  readonly asked: unknown
  /** The params of `input.respond`. */
  readonly answer: Readonly<Record<string, unknown>>
  readonly stream: AuditStream
}

/** A thread whose run has raised an interrupt and ended. */
async function asking({ thread, agents }: AuditContext): Promise<Asking> {
  const one = thread(agents.interrupt)
  const { stream } = await one.run()
  const [asked] = dataOf(stream.events, 'input.requested')
  const id = at(asked, 'interrupt_id')
  hold('input.requested', typeof id === 'string' && id !== '', 'an interrupt_id', asked)
  return { one, id: id as string, asked, answer: { ...UNASKED, interrupt_id: id }, stream }
}

const asksOf = (events: AuditStream['events']): unknown[] =>
  dataOf(events, 'input.requested').map((data) => at(data, 'interrupt_id'))

/** The distinct ids of a state's open interrupts. Parents may list nested interrupts too. */
function openIn(state: unknown): unknown[] {
  const interrupts = listOf(at(state, 'tasks')).flatMap((task) => listOf(at(task, 'interrupts')))
  return [...new Set(interrupts.map((interrupt) => at(interrupt, 'id')))]
}
