import { expect, test } from 'vitest'
import { changeBy, type PreparedOp } from '../../../src/storage/store/commit.ts'

const append: PreparedOp = { op: 'append', token: 1, events: [] }
const put: PreparedOp = { op: 'put', collection: 'c', id: 'd', text: '1', index: {} }
const clear: PreparedOp = { op: 'clear' }
const renew: PreparedOp = { op: 'renew', token: 1, ttlMs: 1 }

test.each<[readonly PreparedOp[], log: boolean, docs: boolean]>([
  [[], false, false],
  [[append], true, false],
  [[put], false, true],
  [[renew], false, true],
  [[clear], true, true],
  [[append, put], true, true],
  [[put, append], true, true],
  [[renew, put], false, true],
])('listeners are told of %j: log %s, documents and lease %s', (ops, log, docs) => {
  expect(changeBy(ops)).toEqual({ log, docs })
})
