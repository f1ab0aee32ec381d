import type { AdapterCapability } from '../../../src/audit/index.ts'

const table: Readonly<Record<AdapterCapability, true>> = {
  disconnect: true,
  signal: true,
  backpressure: true,
  'early-headers': true,
  pipelining: true,
  errors: true,
  'broken-streams': true,
  'own-bodies': true,
  drain: true,
  'own-url': true,
  length: true,
  options: true,
  mount: true,
  'fall-through': true,
  'trust-proxy': true,
  'host-headers': true,
  shutdown: true,
}

export const everything = Object.keys(table) as AdapterCapability[]

export function allBut(...lacking: readonly AdapterCapability[]): AdapterCapability[] {
  return everything.filter((capability) => !lacking.includes(capability))
}
