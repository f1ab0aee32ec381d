import { equal, hold } from '../../check.ts'
import { at, listOf } from '../events.ts'
import { accepted } from '../expect.ts'
import { type Checks, EXAMPLES, rules, rulesOf, THREAD_CLIENT } from '../rule.ts'

const { should } = rules(THREAD_CLIENT)

const RULES = {
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

const checks: Checks<keyof typeof RULES> = {
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

export const recordRules = /* @__PURE__ */ rulesOf(RULES, checks)
