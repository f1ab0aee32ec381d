import { type Check, runCheck } from './adapter/bench.ts'
import { bodyChecks } from './adapter/body-checks.ts'
import { requestChecks } from './adapter/request-checks.ts'
import { type RequirementId, requirements } from './adapter/requirements.ts'
import { responseChecks } from './adapter/response-checks.ts'
import { streamChecks } from './adapter/stream-checks.ts'
import type { AdapterTarget } from './adapter/target.ts'
import type { Audit } from './rules.ts'

const CHECKS: Readonly<Record<RequirementId, Check>> = {
  ...requestChecks,
  ...bodyChecks,
  ...responseChecks,
  ...streamChecks,
}

/**
 * The requirements of every adapter between a server framework and a `WebHandler`, limited to what applies to
 * `target`. Each audit starts the target, sends requests over its socket, and checks that no stream stays
 * open.
 */
export function adapterAudits(target: AdapterTarget): readonly Audit[] {
  const ids = Object.keys(CHECKS) as RequirementId[]
  return ids
    .filter((id) => CHECKS[id].needs?.every((need) => applies(target, need)) ?? true)
    .map((id) => ({
      id,
      name: requirements[id].behaviour,
      source: requirements[id].source,
      fn: () => runCheck(target, CHECKS[id]),
    }))
}

function applies(target: AdapterTarget, need: NonNullable<Check['needs']>[number]): boolean {
  return need === 'connect' || need === 'collect' ? target[need] !== undefined : target.can.includes(need)
}
