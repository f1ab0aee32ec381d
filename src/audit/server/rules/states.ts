import { equal, hold } from '../../check.ts'
import type { AuditThread } from '../context.ts'
import { at, hasEnded, listOf, rootStates } from '../events.ts'
import { EXAMPLES, REACT, rules, THREAD_CLIENT } from '../rule.ts'
import { isState } from '../shapes.ts'

const { must, should } = rules({ source: THREAD_CLIENT })

export const stateRules = [
  must(
    'state.missing',
    'The state of a thread that is not there is 404, as JSON with a message',
    async ({ thread }) => {
      const { status, body } = await thread().request('GET', '/state')
      equal('the status', status, 404)
      hold('the message', typeof at(body, 'message') === 'string', 'text', body)
    },
    { source: REACT },
  ),
  must(
    'state.bootstrap',
    'POST state makes a thread that was 404, and a run goes on from there',
    async ({ thread }) => {
      const one = thread()
      equal('the status of GET', (await one.request('GET', '/state')).status, 404)
      const { status } = await one.request('POST', '/state', { body: { values: { messages: [] } } })
      hold('the status of POST', status >= 200 && status < 300, '2xx', status)
      equal('the messages', at(await one.state(), 'values', 'messages'), [])
      const { events } = await one.run()
      equal('the states', rootStates(events), ['running', 'completed'])
    },
    { source: EXAMPLES },
  ),
  must(
    'state.idle',
    'The state of a thread whose run has completed has nothing next and no tasks',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      equal('the tasks', at(await one.idle(), 'tasks'), [])
    },
    { source: REACT },
  ),
  must(
    'state.shape',
    'A state has values, next, tasks, metadata, checkpoint and parent_checkpoint',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      const state = await one.idle()
      isState(state)
      equal('the thread of the checkpoint', at(state, 'checkpoint', 'thread_id'), one.id)
    },
  ),
  should(
    'state.at-checkpoint',
    'The state at a checkpoint is the one that the history has',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      for (const item of (await historyOf(one)).slice(0, 2)) {
        const checkpoint = at(item, 'checkpoint')
        const found = await one.state(`/state/${idOf(item)}`)
        const same = await one.request('POST', '/state/checkpoint', { body: { checkpoint } })
        equal('the checkpoints', [idOf(found), idOf(same.body)], [idOf(item), idOf(item)])
        equal('the values', at(found, 'values'), at(item, 'values'))
      }
      equal(
        'the status of one that is not there',
        (await one.request('GET', '/state/1ef00000-0000-6000-8000-000000000000')).status,
        404,
      )
    },
  ),
  should(
    'state.written',
    'A written state is a checkpoint of its own, on top of the newest',
    async ({ thread, input }) => {
      const one = thread()
      await one.run()
      const before = await one.idle()
      const { status } = await one.request('POST', '/state', { body: { values: input('Written by hand') } })
      hold('the status', status >= 200 && status < 300, '2xx', status)
      const after = await one.state()
      equal('the parent', at(after, 'parent_checkpoint', 'checkpoint_id'), idOf(before))
      hold(
        'the values',
        JSON.stringify(at(after, 'values')).includes('Written by hand'),
        'what was written',
        after,
      )
    },
  ),
  should(
    'state.busy',
    'A state cannot be written while a run is in progress: 409',
    async ({ thread, agents }) => {
      const one = thread(agents.slow)
      await one.start()
      const stream = await one.stream()
      equal('the status', (await one.request('POST', '/state', { body: { values: {} } })).status, 409)
      await stream.until('the end of the run', hasEnded(1))
    },
    { needs: 'slow' },
  ),
  should(
    'history.newest-first',
    'The history begins with the state, and each item is the child of the one after it',
    async ({ thread }) => {
      const one = thread()
      await one.run(2)
      const state = await one.idle()
      const history = await historyOf(one)
      for (const item of history) isState(item)
      equal('the first', idOf(history[0]), idOf(state))
      const parents = history.map((item) => at(item, 'parent_checkpoint', 'checkpoint_id') ?? null)
      equal('the parents', parents, [...history.slice(1).map(idOf), null])
    },
  ),
  should(
    'history.pages',
    'limit and before, in each of its forms, page through the history',
    async ({ thread }) => {
      const one = thread()
      await one.run(2)
      const ids = (await historyOf(one)).map(idOf)
      hold('the history', ids.length > 2, 'at least three checkpoints', ids)
      const checkpoint_id = ids[0]
      for (const before of [checkpoint_id, { configurable: { checkpoint_id } }, { checkpoint_id }]) {
        const page = await historyOf(one, { limit: 1, before })
        equal(`the page before ${JSON.stringify(before)}`, page.map(idOf), ids.slice(1, 2))
      }
    },
  ),
  should(
    'history.metadata',
    'The history can be asked for checkpoints with some metadata',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      const found = await historyOf(one, { limit: 100, metadata: { source: 'input' } })
      const sources = found.map((item) => at(item, 'metadata', 'source'))
      equal('the sources', sources, ['input'])
    },
  ),
  should(
    'history.missing',
    'The history of a thread that is not there is 404',
    async ({ thread }) => {
      equal('the status', (await thread().request('POST', '/history', { body: {} })).status, 404)
    },
    { source: EXAMPLES },
  ),
]

async function historyOf(one: AuditThread, body: object = { limit: 100 }): Promise<readonly unknown[]> {
  const answer = await one.request('POST', '/history', { body })
  equal(`the status of the history ${JSON.stringify(body)}`, answer.status, 200)
  hold('the history', Array.isArray(answer.body), 'a list', answer.body)
  return listOf(answer.body)
}

const idOf = (state: unknown): unknown => at(state, 'checkpoint', 'checkpoint_id')
