import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What takes longest, because it starts processes and waits for deadlines. It begins first, so that no worker is alone with it at
 * the end: a fresh clone has no durations of an earlier run to order by.
 */
const LONGEST = [
  'test/chat/page/',
  'test/hooks/',
  'test/chat/',
  'test/conformance/docs-clients',
  'test/conformance/server-audits',
  'test/durability/chaos',
  'test/durability/',
  'test/conformance/next',
  'test/platform/crons/instances',
  'test/platform/runs/kill',
  'test/jobs/kill',
  'test/vendors/server-audits',
  'test/cli/',
  'test/a2a/clients',
  'test/runs/carried-records',
  'test/platform/fuzz',
  'test/threads/time-budget',
  'test/formats/properties',
  'test/control-plane/deployers/process/process',
  'test/vendors/langgraph-cli',
  'test/control-plane/attacks/killed',
  'test/devtools/',
  'test/examples/',
]

/** The order of vitest, with the longest files before all others. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((path) => moduleId.includes(`/${path}`))
  return at === -1 ? LONGEST.length : at
}
