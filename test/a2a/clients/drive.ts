import { beforeAll, describe, test } from 'vitest'
import { agents } from './agents.ts'
import type { A2AClient, OpenClient } from './client.ts'
import { scenarios } from './scenarios.ts'
import { openLegacy, openV1 } from './v1.ts'
import { openV03 } from './v03.ts'

const CLIENTS: Readonly<Record<string, OpenClient>> = {
  '0.3.14': openV03,
  '1.3.0': openV1,
  '1.3.0 that speaks v0.3': openLegacy,
}

export interface ServedAgents {
  readonly origin: string
  /** Such as `/api`. */
  readonly mount?: string
  /** Default: the global one. */
  readonly fetch?: typeof fetch | undefined
}

/** Defines the tests of every published client against both agents, of a server that is up when they run. */
export function driveClients(served: () => ServedAgents): void {
  describe.each(Object.entries(CLIENTS))('client %s', (_, open) => {
    describe.each(Object.keys(agents))('agent %s', (id) => {
      let client: A2AClient

      beforeAll(async () => {
        const { origin, mount = '', fetch: fetchImpl = fetch } = served()
        client = await open(origin, `${mount}/.well-known/agent-card.json?assistant_id=${id}`, fetchImpl)
      })

      test.concurrent.each(Object.entries(scenarios))('%s', (_name, scenario) => scenario(client))
    })
  })
}
