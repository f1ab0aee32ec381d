import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { toNode } from '../../adapters/node.ts'
import { type AdapterTarget, AuditError, adapterAudits } from '../../src/audit/index.ts'
import { openServer } from '../kit/listen.ts'
import { naive } from './targets/naive.ts'

const FAULTS = [
  'adapter.abort.before-response',
  'adapter.abort.idle',
  'adapter.abort.not-early',
  'adapter.abort.pipelined',
  'adapter.body.abort',
  'adapter.body.get',
  'adapter.body.json',
  'adapter.body.limit',
  'adapter.body.stalled',
  'adapter.body.text',
  'adapter.body.utf8',
  'adapter.close',
  'adapter.cookies',
  'adapter.error.bad-response',
  'adapter.error.first',
  'adapter.error.midway',
  'adapter.error.thrown',
  'adapter.error.thrown-at-once',
  'adapter.host-headers',
  'adapter.mount.boundary',
  'adapter.not-found.root',
  'adapter.proxy.ignored',
  'adapter.stream.early-headers',
  'adapter.url.double-slash',
  'adapter.url.host',
]

test('the audits find the faults of a naive bridge', async () => {
  const audits = adapterAudits(naive).filter(({ id }) => FAULTS.includes(id))
  const results = await Promise.allSettled(audits.map(({ fn }) => fn()))
  const failed = audits.filter((_audit, at) => results[at]!.status === 'rejected')
  expect(failed.map(({ id }) => id).sort()).toEqual(FAULTS)
})

test('the audits find an adapter that answers what the handler does not know', async () => {
  const greedy: AdapterTarget = {
    name: 'greedy',
    can: ['fall-through'],
    async start(handler) {
      const agents = toNode(handler)
      return openServer(
        createServer((req, res) => (req.url === '/host' ? res.end('host') : agents(req, res))),
      )
    },
  }
  const [audit] = adapterAudits(greedy).filter(({ id }) => id === 'adapter.not-found.root')
  await expect(audit!.fn()).rejects.toThrow(
    "the answer: expected the host's own 404, saw that of the handler",
  )
})

test('an audit error says what was expected and what was seen', async () => {
  const [audit] = adapterAudits(naive).filter(({ id }) => id === 'adapter.cookies')
  const error = await audit!.fn().catch((reason) => reason)
  expect(error).toBeInstanceOf(AuditError)
  expect(error.message).toBe('the cookies: expected ["a=1; Path=/","b=2; Path=/"], saw ["b=2; Path=/"]')
})
