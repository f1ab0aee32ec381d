import { beforeAll, expect, test, vi } from 'vitest'
import { runAudits, serverAudits } from '../../src/audit/server.ts'
import { createAgentServer } from '../../src/index.ts'
import { unexpectedErrors } from '../kit/errors.ts'
import { chosen } from '../threads/sdk/targets.ts'
import { audited, functions } from './audited/agents.ts'
import { webSocketFactory } from './audited/sockets.ts'
import { express } from './targets/express.ts'

/**
 * A body parser in front of us refuses malformed bodies in its own words, so those targets are left to the adapter audits. Clients are
 * driven through one of the two majors of Express without a parser, rules through both.
 */
const targets = [...new Set(process.env.ADAPTERS === 'one' ? chosen : [...chosen, ...express])].filter(
  ({ can }) => can.includes('own-bodies'),
)

/** The rules that an adapter can break: how a stream begins, is read again and is broken off, what is refused before it, and sockets. */
const WIRE_RULES = /^(?:stream|replay|cancel|requests|sockets)\./

const headers = { authorization: 'Bearer key' }
const authenticate = (request: Request) =>
  request.headers.get('authorization') === headers.authorization ? { id: 'auditor' } : null

// Deleting a thread breaks its streams off, which some frameworks write to the console.
beforeAll(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))

test.each(targets.map((target) => [target.name, target] as const))(
  'every rule that an adapter can break holds over %s',
  { timeout: 240_000 },
  async (_, target) => {
    const { errors, reporters } = unexpectedErrors()
    const server = createAgentServer({ agents: functions, authenticate, ...reporters })
    const { origin, close } = await target.start(server, {})
    try {
      const options = { baseUrl: origin, headers, webSocketFactory, ...audited, timeoutMs: 100_000 }
      const audits = serverAudits(options).filter(({ rule }) => WIRE_RULES.test(rule))
      expect(audits.length).toBeGreaterThan(40)
      const broken = (await runAudits(audits, 8)).filter(({ passed }) => !passed)
      expect(broken.map(({ rule, detail }) => `${rule}: ${detail}`)).toEqual([])
      expect(errors).toEqual([])
    } finally {
      await close()
    }
  },
)
