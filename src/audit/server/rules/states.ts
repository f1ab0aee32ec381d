import { equal, hold } from '../../check.ts'
import type { AuditThread } from '../context.ts'
import { at, checkpointOf, listOf, rootStates } from '../events.ts'
import {
  accepted,
  type Checks,
  EXAMPLES,
  isState,
  mentions,
  REACT,
  rules,
  rulesOf,
  THREAD_CLIENT,
} from '../rule.ts'

const { must, should } = rules(THREAD_CLIENT)

const NO_CHECKPOINT = '1ef00000-0000-6000-8000-000000000000'

const RULES = {
  'state.missing': must('The state of a thread that does not exist is 404, as JSON with a message', REACT),
  'state.bootstrap': must(
    'POST state creates a thread that was 404, and a run continues from that state',
    EXAMPLES,
  ),
  'state.idle': must('The state after a completed run has no next nodes and no tasks', REACT),
  'state.shape': must('A state has values, next, tasks, metadata, checkpoint and parent_checkpoint'),
  'state.at-checkpoint': should('The state at a checkpoint equals its history entry'),
  'state.written': should('Writing the state creates a checkpoint on top of the newest'),
  'state.busy': should('Writing the state while a run is active is 409', THREAD_CLIENT, 'slow'),
  'history.newest-first': should(
    'The history starts with the current state, and each entry is the child of the next',
  ),
  'history.pages': should('limit and before, in each of its forms, page through the history'),
  'history.metadata': should('The history can be filtered by checkpoint metadata'),
  'history.missing': should('The history of a thread that does not exist is 404', EXAMPLES),
}

const checks: Checks<keyof typeof RULES> = {
  async 'state.missing'({ thread }) {
    const { status, body } = await thread().request('GET', '/state')
    equal('the status', status, 404)
    hold('the message', typeof at(body, 'message') === 'string', 'text', body)
  },
  async 'state.bootstrap'({ thread }) {
    const one = thread()
    equal('the status of GET', await one.status('GET', '/state'), 404)
    accepted('POST', await one.status('POST', '/state', { body: { values: { messages: [] } } }))
    equal('the messages', at(await one.state(), 'values', 'messages'), [])
    const { events } = await one.run()
    equal('the states', rootStates(events), ['running', 'completed'])
  },
  async 'state.idle'({ thread }) {
    equal('the tasks', at((await thread().finish()).state, 'tasks'), [])
  },
  async 'state.shape'({ thread }) {
    const one = thread()
    const { state } = await one.finish()
    await isState(state)
    equal('the thread of the checkpoint', at(state, 'checkpoint', 'thread_id'), one.id)
  },
  async 'state.at-checkpoint'({ thread }) {
    const one = thread()
    await one.run()
    for (const item of (await historyOf(one)).slice(0, 2)) {
      const checkpoint = at(item, 'checkpoint')
      const found = await one.state(`/state/${checkpointOf(item)}`)
      const same = await one.request('POST', '/state/checkpoint', { body: { checkpoint } })
      const id = checkpointOf(item)
      equal('the checkpoints', [found, same.body].map(checkpointOf), [id, id])
      equal('the values', at(found, 'values'), at(item, 'values'))
    }
    equal('the status of one that is not there', await one.status('GET', `/state/${NO_CHECKPOINT}`), 404)
  },
  async 'state.written'({ thread, input }) {
    const one = thread()
    const { state: before } = await one.finish()
    accepted('POST', await one.status('POST', '/state', { body: { values: input('Written by hand') } }))
    const after = await one.state()
    equal('the parent', at(after, 'parent_checkpoint', 'checkpoint_id'), checkpointOf(before))
    mentions('the values', at(after, 'values'), 'Written by hand')
  },
  async 'state.busy'({ thread, agents }) {
    const one = thread(agents.slow)
    const stream = await one.begin()
    equal('the status', await one.status('POST', '/state', { body: { values: {} } }), 409)
    await stream.untilEnd()
  },
  async 'history.newest-first'({ thread }) {
    const one = thread()
    const { state } = await one.finish(2)
    const history = await historyOf(one)
    for (const item of history) await isState(item)
    equal('the first', checkpointOf(history[0]), checkpointOf(state))
    const parents = history.map((item) => at(item, 'parent_checkpoint', 'checkpoint_id') ?? null)
    equal('the parents', parents, [...history.slice(1).map(checkpointOf), null])
  },
  async 'history.pages'({ thread }) {
    const one = thread()
    await one.run(2)
    const ids = (await historyOf(one)).map(checkpointOf)
    hold('the history', ids.length > 2, 'at least three checkpoints', ids)
    const checkpoint_id = ids[0]
    for (const before of [checkpoint_id, { configurable: { checkpoint_id } }, { checkpoint_id }]) {
      const page = await historyOf(one, { limit: 1, before })
      equal(`the page before ${JSON.stringify(before)}`, page.map(checkpointOf), ids.slice(1, 2))
    }
  },
  async 'history.metadata'({ thread }) {
    const one = thread()
    await one.run()
    const found = await historyOf(one, { limit: 100, metadata: { source: 'input' } })
    const sources = found.map((item) => at(item, 'metadata', 'source'))
    equal('the sources', sources, ['input'])
  },
  async 'history.missing'({ thread }) {
    equal('the status', await thread().status('POST', '/history', { body: {} }), 404)
  },
}

export const stateRules = /* @__PURE__ */ rulesOf(RULES, checks)

async function historyOf(one: AuditThread, body: object = { limit: 100 }): Promise<readonly unknown[]> {
  const answer = await one.request('POST', '/history', { body })
  equal(`the status of the history ${JSON.stringify(body)}`, answer.status, 200)
  hold('the history', Array.isArray(answer.body), 'a list', answer.body)
  return listOf(answer.body)
}

const THREAD_RULES = {
  'threads.create': should(
    'POST /threads creates a thread, and rejects an existing id unless if_exists is do_nothing',
  ),
  'threads.get': should('GET /threads/{id} returns the thread, or 404 if it does not exist'),
  'threads.status': should(
    'The status of a thread with an open interrupt is interrupted',
    THREAD_CLIENT,
    'interrupt',
  ),
  'threads.patch': should('PATCH /threads/{id} merges metadata'),
  'threads.search': should('POST /threads/search finds threads by metadata, in pages'),
  'threads.list': should('GET /threads lists threads newest first', EXAMPLES),
  'threads.delete': should('The thread, state and history of a deleted thread are 404', EXAMPLES),
}

const threadChecks: Checks<keyof typeof THREAD_RULES> = {
  async 'threads.create'({ thread, request }) {
    const one = thread()
    const create = (more: object) => request('POST', '/threads', { body: { thread_id: one.id, ...more } })
    const made = await create({ metadata: { from: 'audit' } })
    equal('the status', made.status, 200)
    equal('the thread', [at(made.body, 'thread_id'), at(made.body, 'status')], [one.id, 'idle'])
    equal('the metadata', at(made.body, 'metadata', 'from'), 'audit')
    equal('the status of a second one', (await create({})).status, 409)
    const taken = await create({ if_exists: 'do_nothing' })
    equal('the thread that was there', [taken.status, at(taken.body, 'thread_id')], [200, one.id])
  },
  async 'threads.get'({ thread }) {
    const one = thread()
    equal('the status before', await one.status('GET', ''), 404)
    await one.finish()
    const { body } = await one.request('GET', '')
    equal('the record', [at(body, 'thread_id'), at(body, 'status')], [one.id, 'idle'])
    for (const key of ['created_at', 'updated_at'])
      hold(key, !Number.isNaN(Date.parse(String(at(body, key)))), 'a time', at(body, key))
  },
  async 'threads.status'({ thread, agents }) {
    const one = thread(agents.interrupt)
    await one.run()
    equal('the status', at((await one.request('GET', '')).body, 'status'), 'interrupted')
  },
  async 'threads.patch'({ thread, request }) {
    const one = thread()
    await request('POST', '/threads', { body: { thread_id: one.id, metadata: { kept: 1, changed: 1 } } })
    await one.request('PATCH', '', { body: { metadata: { changed: 2 } } })
    const { body } = await one.request('GET', '')
    equal('the metadata', [at(body, 'metadata', 'kept'), at(body, 'metadata', 'changed')], [1, 2])
  },
  async 'threads.search'({ thread, request }) {
    const mark = thread().id
    const ids = [thread().id, thread().id]
    for (const thread_id of ids)
      await request('POST', '/threads', { body: { thread_id, metadata: { mark } } })
    const search = async (more: object) => {
      const { body } = await request('POST', '/threads/search', { body: { metadata: { mark }, ...more } })
      return listOf(body).map((found) => at(found, 'thread_id'))
    }
    const found = await search({})
    equal('what was found', [...found].sort(), [...ids].sort())
    equal('a page', await search({ limit: 1 }), found.slice(0, 1))
    equal('the next page', await search({ limit: 1, offset: 1 }), found.slice(1))
  },
  async 'threads.list'({ thread, request }) {
    const threads = [thread(), thread()]
    for (const one of threads) await one.finish()
    const { status, body } = await request('GET', '/threads')
    equal('the status', status, 200)
    const ids = listOf(body).map((item) => at(item, 'id'))
    const listed = ids.filter((id) => threads.some((one) => one.id === id))
    equal('the threads', listed, [threads[1]!.id, threads[0]!.id])
  },
  async 'threads.delete'({ thread }) {
    const one = thread()
    await one.finish()
    accepted('DELETE', await one.status('DELETE', ''))
    equal('the status of the record', await one.status('GET', ''), 404)
    equal('the status of the state', await one.status('GET', '/state'), 404)
    equal('the status of the history', await one.status('POST', '/history', { body: {} }), 404)
  },
}

export const recordRules = /* @__PURE__ */ rulesOf(THREAD_RULES, threadChecks)
