import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '../../../adapters/node.ts'
import { processDeployer } from '../../../src/control-plane/deployers/process/process.ts'
import {
  apiKeys,
  type ControlPlaneOptions,
  createControlPlaneHandler,
} from '../../../src/control-plane/index.ts'
import { graphWith, write } from '../../cli/projects.ts'
import { root } from '../../package/package.ts'

export const KEY = 'the-key'

/**
 * A control plane on a socket that deploys processes, for repositories below `repositories` of its folder. The folders of deployments find
 * the packages of this project.
 */
export async function serveControlPlane(options: Partial<ControlPlaneOptions> = {}) {
  const place = mkdtempSync(join(tmpdir(), 'agentwire-deployments-'))
  const repositories = join(place, 'repositories')
  mkdirSync(repositories)
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  const controlPlane = createControlPlaneHandler({
    deployer: processDeployer({
      dir: join(place, 'deployments'),
      allowRepositories: [`file://${repositories}/`],
      graceMs: 2_000,
    }),
    authenticate: apiKeys({ [KEY]: { id: 'ci', tenant: 'acme' } }),
    basePath: '/api-host',
    ...options,
  })
  const served = await serve(controlPlane, { port: 0, silent: true })
  return {
    place,
    repositories,
    base: `${served.origin}/api-host`,
    async close() {
      await served.close()
      rmSync(place, { recursive: true, force: true })
    },
  }
}

/** Writes a project whose graph answers with a word. Its build runs the script. */
export function writeProject(folder: string, word: string, build = ''): void {
  write(folder, {
    'langgraph.json': { graphs: { agent: './graph.mjs:graph' } },
    'graph.mjs': `${graphWith(word)}
export const graph = new StateGraph(MessagesAnnotation).addNode('answer', answer).addEdge('__start__', 'answer').compile()
`,
    'build.mjs': build,
  })
}
