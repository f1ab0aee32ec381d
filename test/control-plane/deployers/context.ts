import type { DeployRequest, PhaseContext } from '../../../src/control-plane/deployers/deployer.ts'

/** What a deployer is asked for, with what a test is about. */
export const deployRequest = (request: Partial<DeployRequest>): DeployRequest => ({
  source: 'github',
  sourceConfig: {},
  sourceRevisionConfig: {},
  secretReferences: [],
  ...request,
})

/** The context of a phase, and the lines that it was told. */
export function phaseContext(
  request: DeployRequest,
  more: Partial<PhaseContext> = {},
): { readonly context: PhaseContext; readonly lines: string[] } {
  const lines: string[] = []
  const context: PhaseContext = {
    ...request,
    deploymentId: 'deployment-1',
    revisionId: 'revision-1',
    revisionNumber: 1,
    name: 'agent',
    owner: null,
    signal: new AbortController().signal,
    secrets: {},
    openUpload: async () => undefined,
    log: (line) => lines.push(line),
    ...more,
  }
  return { context, lines }
}
