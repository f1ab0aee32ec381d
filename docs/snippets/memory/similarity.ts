import assert from 'node:assert/strict'
import { embed as vectorsOf } from '../kit/embed.ts'
import { intercept } from '../kit/intercept.ts'

process.env.OPENAI_API_KEY = 'none'
intercept('api.openai.com', async (request) => {
  const { input } = (await request.json()) as { input: string[] }
  const data = (await vectorsOf(input)).map((vector) => ({
    embedding: Buffer.from(new Float32Array(vector).buffer).toString('base64'),
  }))
  return Response.json({ data })
})

// #region embed
import { createAgentServer } from 'agentwire'
import OpenAI from 'openai'
import { greeter } from './greeter.ts'

const openai = new OpenAI() // reads OPENAI_API_KEY

async function embed(texts: string[]): Promise<number[][]> {
  const { data } = await openai.embeddings.create({ model: 'text-embedding-3-small', input: texts })
  return data.map(({ embedding }) => embedding)
}

const server = createAgentServer({
  agents: { greeter },
  graphStore: {
    embed,
    fields: ['text', 'notes[*].text'], // default: the whole value as JSON
    ttl: { defaultTtl: 60 * 24 * 30 }, // minutes; reading an item restarts its time
  },
})

const store = server.engine.graphStore({ id: 'ann' })
await store.put(['facts'], 'tea', { text: 'Ann drinks tea' })
await store.put(['facts'], 'job', { text: 'Ann builds bridges' })
const [nearest] = await store.search(['facts'], { query: 'What does she drink?', limit: 1 })
console.log(nearest?.value, nearest?.score)
// #endregion

assert.equal(nearest?.key, 'tea')
await server.close()
