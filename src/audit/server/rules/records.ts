import { equal, hold } from '../../check.ts'
import { at, listOf } from '../events.ts'
import { EXAMPLES, rules, THREAD_CLIENT } from '../rule.ts'

const { should } = rules({ source: THREAD_CLIENT })

export const recordRules = [
  should(
    'threads.create',
    'POST /threads makes a thread, and refuses an id that is taken, unless told to take it',
    async ({ thread, request }) => {
      const one = thread()
      const create = (more: object) => request('POST', '/threads', { body: { thread_id: one.id, ...more } })
      const made = await create({ metadata: { from: 'audit' } })
      equal(
        'the thread',
        [made.status, at(made.body, 'thread_id'), at(made.body, 'status')],
        [200, one.id, 'idle'],
      )
      equal('the metadata', at(made.body, 'metadata', 'from'), 'audit')
      equal('the status of a second one', (await create({})).status, 409)
      const taken = await create({ if_exists: 'do_nothing' })
      equal('the thread that was there', [taken.status, at(taken.body, 'thread_id')], [200, one.id])
    },
  ),
  should(
    'threads.get',
    'GET /threads/{id} gives the record, and 404 where there is none',
    async ({ thread }) => {
      const one = thread()
      equal('the status before', (await one.request('GET', '')).status, 404)
      await one.run()
      await one.idle()
      const { body } = await one.request('GET', '')
      equal('the record', [at(body, 'thread_id'), at(body, 'status')], [one.id, 'idle'])
      for (const key of ['created_at', 'updated_at'])
        hold(key, !Number.isNaN(Date.parse(String(at(body, key)))), 'a time', at(body, key))
    },
  ),
  should(
    'threads.status',
    'The record of a thread that waits for an answer says interrupted',
    async ({ thread, agents }) => {
      const one = thread(agents.interrupt)
      await one.run()
      equal('the status', at((await one.request('GET', '')).body, 'status'), 'interrupted')
    },
    { needs: 'interrupt' },
  ),
  should('threads.patch', 'PATCH /threads/{id} merges metadata', async ({ thread, request }) => {
    const one = thread()
    await request('POST', '/threads', { body: { thread_id: one.id, metadata: { kept: 1, changed: 1 } } })
    await one.request('PATCH', '', { body: { metadata: { changed: 2 } } })
    const { body } = await one.request('GET', '')
    equal('the metadata', [at(body, 'metadata', 'kept'), at(body, 'metadata', 'changed')], [1, 2])
  }),
  should(
    'threads.search',
    'POST /threads/search finds threads by their metadata, by pages',
    async ({ thread, request }) => {
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
      equal(
        'the pages',
        [await search({ limit: 1 }), await search({ limit: 1, offset: 1 })],
        [[found[0]], [found[1]]],
      )
    },
  ),
  should(
    'threads.list',
    'GET /threads lists threads newest first',
    async ({ thread, request }) => {
      const threads = [thread(), thread()]
      for (const one of threads) {
        await one.run()
        await one.idle()
      }
      const { status, body } = await request('GET', '/threads')
      equal('the status', status, 200)
      const ids = listOf(body).map((item) => at(item, 'id'))
      const listed = ids.filter((id) => threads.some((one) => one.id === id))
      equal('the threads', listed, [threads[1]!.id, threads[0]!.id])
    },
    { source: EXAMPLES },
  ),
  should(
    'threads.delete',
    'A deleted thread is gone: record, state and history are 404',
    async ({ thread }) => {
      const one = thread()
      await one.run()
      await one.idle()
      const { status } = await one.request('DELETE', '')
      hold('the status of DELETE', status >= 200 && status < 300, '2xx', status)
      equal('the status of the record', (await one.request('GET', '')).status, 404)
      equal('the status of the state', (await one.request('GET', '/state')).status, 404)
      equal('the status of the history', (await one.request('POST', '/history', { body: {} })).status, 404)
    },
    { source: EXAMPLES },
  ),
]
