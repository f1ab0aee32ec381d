import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import type { AdapterTarget } from '../../../src/audit/index.ts'
import { connect } from '../connect.ts'
import { allBut } from './capabilities.ts'

const app = fileURLToPath(new URL('../next-app/', import.meta.url))
const root = fileURLToPath(new URL('../../../', import.meta.url))
const cli = createRequire(import.meta.url).resolve('next/dist/bin/next')
const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' }

/** Next owns its server and, unlike the others, also the query, the host, unread uploads, lengths and the first bytes. */
const LACKING = [
  'own-url',
  'fall-through',
  'trust-proxy',
  'host-headers',
  'shutdown',
  'pipelining',
  'early-headers',
  'drain',
  'length',
] as const

/** Runs a real `next build` of the fixture over the sources. */
export async function buildNextApp(): Promise<void> {
  await build({
    stdin: {
      contents: `
        export { toNext } from './adapters/next.ts'
        export { langgraph } from './src/agents/langgraph/langgraph.ts'
        export { adapterProbe } from './src/audit/index.ts'
        export { createAgentServer, defineAgent } from './src/index.ts'
        export { agents } from './test/a2a/clients/agents.ts'`,
      resolveDir: root,
    },
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    packages: 'external',
    outfile: `${app}.tmp/agentwire.mjs`,
  })
  await promisify(execFile)(process.execPath, [cli, 'build'], { cwd: app, env })
}

export interface NextServer {
  readonly origin: string
  /** What the process wrote to stderr. */
  errors(): string
  exited(): boolean
  close(): Promise<void>
}

/** Runs a real `next start` in a process of its own. */
export async function startNextApp(): Promise<NextServer> {
  const child = spawn(process.execPath, [cli, 'start', '-p', '0', '-H', '127.0.0.1'], { cwd: app, env })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return {
    origin: await originOf(child),
    errors: () => stderr,
    exited: () => child.exitCode !== null,
    async close() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

/** The fixture serves probes of its own, at the root and at the mounts of the audits. */
export function nextTarget(origin: () => string): AdapterTarget {
  return {
    name: 'next',
    can: allBut(...LACKING),
    connect,
    start: async () => ({ origin: origin(), close: async () => {} }),
  }
}

async function originOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line)
    if (found) {
      child.stdout!.resume()
      return found[0]
    }
  }
  throw new Error('next start ended without an address.')
}
