import { type Served, serve } from '../../adapters/node.ts'
import { scriptedModels } from '../../examples/demo/models.ts'
import { createDemo } from '../../examples/demo/server.ts'

/** The demo on a free port, with a quick scripted model. */
export function serveDemo(delayMs: number): Promise<Served> {
  return serve(createDemo(scriptedModels(delayMs)), { port: 0, silent: true })
}
