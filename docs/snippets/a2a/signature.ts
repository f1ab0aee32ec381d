import assert from 'node:assert/strict'
import { exportJWK, generateKeyPair } from 'jose'
import { closeServers, origin } from '../kit/served.ts'

const { privateKey } = await generateKeyPair('ES256', { extractable: true })
process.env.CARD_KEY = JSON.stringify(await exportJWK(privateKey))

// #region signature
import { createAgentServer, defineAgent } from 'agentwire'
import { signCards } from 'agentwire/a2a/signature' // needs jose
import { serve } from 'agentwire/node'

const key = JSON.parse(process.env.CARD_KEY!) // a private JSON Web Key
const sign = signCards({ key, alg: 'ES256', kid: 'key-1', jku: 'https://agents.example.com/jwks.json' })

const agent = defineAgent({
  async run({ message }) {
    await message('Hello there')
  },
})

const server = createAgentServer({
  agents: { agent },
  a2a: { card: { url: 'https://agents.example.com', sign } },
})
await serve(server, { port: 3000 })
// #endregion

const card = await (await fetch(`${await origin()}/.well-known/agent-card.json`)).json()
assert.ok(card.signatures.length > 0)
closeServers()
await server.close()
