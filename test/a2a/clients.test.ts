import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { StartedTarget } from '../../src/audit/index.ts'
import { createAgentServer } from '../../src/index.ts'
import { errorMessage, unexpectedErrors } from '../kit/errors.ts'
import { chosen } from '../threads/sdk/targets.ts'
import { agents } from './clients/agents.ts'
import { driveClients } from './clients/drive.ts'

/** The published clients of the protocol drive a LangGraph agent and a function through each framework. Next is in test/conformance. */

describe.each(chosen)('$name', (target) => {
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
