import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { StartedTarget } from '../../src/audit/index.ts'
import { createAgentServer } from '../../src/index.ts'
import { targets } from '../conformance/targets/index.ts'
import { errorMessage, unexpectedErrors } from '../kit/errors.ts'
import { agents } from './clients/agents.ts'
import { driveClients } from './clients/drive.ts'

/** The published clients of the protocol drive a LangGraph agent and a function through every adapter. Next is in test/conformance. */

// The clients call the global fetch, which does not speak HTTP/2. Other versions of them are run through one adapter (test/peers).
const reached = targets.filter(({ name }) =>
  process.env.ONE_ADAPTER ? name === 'node-http' : name !== 'node-http2',
)

describe.each(reached)('$name', (target) => {
  const { errors, reporters } = unexpectedErrors()
  let started: StartedTarget

  beforeAll(async () => {
    started = await target.start(createAgentServer({ agents, errorMessage, ...reporters }), {})
  })
  afterAll(async () => {
    await started.close()
    expect(errors).toEqual([])
  })

  driveClients(() => started)
})
