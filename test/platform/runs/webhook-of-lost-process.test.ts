import { Client } from '@langchain/langgraph-sdk'
import { expect, test } from 'vitest'
import { defineAgent } from '../../../src/index.ts'
import { serveAgents } from '../../kit/host.ts'
import { lostInDeletion, type Place, sharedMemory } from '../../kit/shared.ts'
import { eventually } from '../../kit/wait.ts'

test('a webhook is kept before the thread of its run is deleted: another instance delivers what a lost one had begun', async () => {
  const told: unknown[] = []
  const shared = sharedMemory()
  const serve = async ({ store, checkpointer }: Place) => {
    const local = async (request: Request): Promise<Response> => {
      told.push(await request.json())
      return new Response()
    }
    const host = await serveAgents({
      agents: { echo: defineAgent({ run: ({ input }) => ({ said: input }) }) },
      store,
      checkpointer,
      leaseTtlMs: 500,
      sweepMs: 50,
      platform: { webhooks: { local } },
    })
    return { host, client: new Client({ apiUrl: host.origin, apiKey: null }) }
  }
  const lost = await serve(lostInDeletion(shared()))
  const { thread_id, run_id } = await lost.client.runs.create(null, 'echo', {
    input: { a: 1 },
    webhook: '/done',
  })
  const place = shared()
  await eventually(async () => {
    const thread = await place.store.get(thread_id, 'threads', thread_id)
    return (thread?.value as { readonly deleting?: boolean } | undefined)?.deleting === true
  })
  await lost.host.server.close()
  const { client } = await serve(place)
  await eventually(async () => (await client.threads.search()).length === 0 && told.length > 0, {
    timeoutMs: 200_000,
  })
  // What the lost one reports is that its store is gone.
  for (const error of lost.host.errors.splice(0)) expect(error).toMatchObject({ code: 'unavailable' })
  expect(told[0]).toMatchObject({ thread_id, run_id, status: 'success', values: { said: { a: 1 } } })
})
