import assert from 'node:assert/strict'
import { forward } from '../kit/forward.ts'

await import('./server.ts')
await forward('127.0.0.1:3000')

// #region client
import { ClientFactory } from '@a2a-js/sdk/client'

const client = await new ClientFactory().createFromUrl('http://127.0.0.1:3000/a2a/weather/')
export const card = await client.getAgentCard()
// #endregion

assert.equal(card.name, 'Weather')
