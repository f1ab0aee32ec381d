import { Client } from '@langchain/langgraph-sdk'
import type { Agent } from '../../../src/index.ts'
import { DATABASES } from '../../kit/databases.ts'
import type { Json } from '../../kit/events.ts'
import { serveAgents } from '../../kit/host.ts'

/** Two instances of a server over one Postgres, a client of each, and one whose requests go to both in turn. */
export async function twoInstances(agents: Readonly<Record<string, Agent>>) {
  const open = await DATABASES.postgres!()
  const [a, b] = [
    await serveAgents({ agents, ...(await open()) }),
    await serveAgents({ agents, ...(await open()) }),
  ]
  const clientOf = (fetcher: typeof fetch = fetch, apiUrl = a.origin) =>
    new Client<Json>({ apiUrl, apiKey: null, callerOptions: { maxRetries: 0, fetch: fetcher } })
  let requests = 0
  const inTurn: typeof fetch = (target, init) => {
    requests += 1
    return fetch(requests % 2 === 0 ? String(target) : String(target).replace(a.origin, b.origin), init)
  }
  return {
    a: clientOf(fetch, a.origin),
    b: clientOf(fetch, b.origin),
    either: clientOf(inTurn),
    origins: [a.origin, b.origin],
  }
}

export async function all(stream: AsyncIterable<Json>): Promise<Json[]> {
  const items: Json[] = []
  for await (const item of stream) items.push(item)
  return items
}
