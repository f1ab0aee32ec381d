import { expect, test } from 'vitest'
import { sharedFile } from '../../kit/shared.ts'

test('a renewal of a lease goes before the writes that wait', async () => {
  const { store } = sharedFile()()
  const token = 1
  await store.commit('held', { ops: [{ op: 'claim', owner: 'me', token, ttlMs: 60_000 }] })
  const done: string[] = []
  const put = (id: string) =>
    store
      .commit('other', { ops: [{ op: 'put', collection: 'c', id, value: null }] })
      .then(() => done.push(id))
  const writes = Array.from({ length: 20 }, (_, at) => put(String(at)))
  const renewal = store.commit('held', { ops: [{ op: 'renew', token, ttlMs: 60_000 }] })
  await Promise.all([...writes, renewal.then(() => done.push('renewal'))])
  expect(done.indexOf('renewal')).toBeLessThan(2)
})
