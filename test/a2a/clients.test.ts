import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StartedTarget } from '../../src/audit/index.ts'
import { createAgentServer } from '../../src/index.ts'
import { targets } from '../conformance/targets/index.ts'
import { errorMessage, unexpectedErrors } from '../kit/errors.ts'
import { agents } from './clients/agents.ts'
import type { A2AClient, OpenClient } from './clients/client.ts'
import { scenarios } from './clients/scenarios.ts'
import { openLegacy, openV1 } from './clients/v1.ts'
import { openV03 } from './clients/v03.ts'

/** The published clients of the protocol drive a LangGraph agent and a function through every adapter. */

const CLIENTS: Readonly<Record<string, OpenClient>> = {
  '0.3.14': openV03,
  '1.3.0': openV1,
  '1.3.0 that speaks v0.3': openLegacy,
}

// The clients call the global fetch, which does not speak HTTP/2.
const reached = targets.filter(({ name }) => name !== 'node-http2')

describe.each(reached)('$name', (target) => {
  const { errors, reporters } = unexpectedErrors()
  let started: StartedTarget
  let fetchImpl: typeof fetch

  beforeAll(async () => {
    started = await target.start(createAgentServer({ agents, errorMessage, ...reporters }), {})
    fetchImpl = started.fetch ?? fetch
  })
  afterAll(async () => {
    await started.close()
    expect(errors).toEqual([])
  })

  describe.each(Object.entries(CLIENTS))('client %s', (_, open) => {
    describe.each(Object.keys(agents))('agent %s', (id) => {
      let client: A2AClient

      beforeAll(async () => {
        client = await open(started.origin, `/.well-known/agent-card.json?assistant_id=${id}`, fetchImpl)
      })

      test.concurrent.each(Object.entries(scenarios))('%s', (_name, scenario) => scenario(client))
    })
  })
})
