import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Served, serve } from '../../../adapters/node.ts'
import { like, peerOf } from '../requirements/peer.ts'
import { createTckServer } from './server.ts'

let served: Served

beforeAll(async () => {
  served = await serve(createTckServer('0.3'), { port: 0, silent: true })
})
afterAll(() => served.close())

test('the server for the kits has the agent that the A2A compatibility kits ask', async () => {
  const url = `${served.origin}/a2a/tck`
  expect(await (await fetch(`${url}/.well-known/agent-card.json`)).json()).toMatchObject({ name: 'tck', url })
  const message = { role: 'ROLE_USER', parts: [{ text: 'Hello' }], messageId: like('artifact-data') }
  const { body } = await peerOf(url).call('SendMessage', { message })
  expect(body.result.task.artifacts[0].parts).toEqual([{ data: { key: 'value', count: 42 } }])
})
