import { serve } from '../../adapters/node.ts'
import { type Agent, createAgentServer } from '../../src/index.ts'
import { retryUnavailable } from '../../src/storage/coordination/retry.ts'
import { openStorage } from '../../src/storage/open.ts'
import { agents } from './agents.ts'
import type { FromInstance, InstanceOptions } from './process.ts'
import { keepBadTime, slowed } from './strain.ts'

/** One instance of a server in a process of its own, which ends when its parent does. */

const options = JSON.parse(process.argv[2]!) as InstanceOptions
const { storageUrl, port, leaseTtlMs, drainMs, deadlineMs, clock, isSlow, hasDoors } = options
if (clock) keepBadTime(clock)

const tell = (message: FromInstance) => {
  if (process.connected) process.send?.(message)
}
const report = (error: unknown) => {
  const { name, message, stack } = error as Error
  tell({ kind: 'error', text: `${name}: ${message}\n${stack}` })
}

const opened = await openStorage(storageUrl, { deadlineMs })
const storage = isSlow ? slowed(opened) : opened
// The setup may take longer than a short deadline, which is meant for what follows.
await retryUnavailable(30_000, () => storage.setup())
/** Tells the parent when an agent has returned from its run. */
const watched = (agent: Agent): Agent => ({
  ...agent,
  get checkpointer() {
    return agent.checkpointer
  },
  async *stream(task) {
    try {
      yield* agent.stream(task)
    } finally {
      tell({ kind: 'left', runId: task.runId })
    }
  },
})

const server = createAgentServer({
  agents: Object.fromEntries(Object.entries(agents).map(([name, agent]) => [name, watched(agent)])),
  defaultAgent: 'steps',
  store: storage.store,
  checkpointer: storage.checkpointer,
  leaseTtlMs,
  drainMs,
  a2a: { push: { allowLoopback: true } },
  faces: hasDoors ? (await import('../doors/faces.ts')).faces : [],
  onError: report,
})
const served = await serve(server, { port, silent: true, onError: report })

process.once('SIGTERM', async () => {
  await served.close()
  await storage.close()
  process.disconnect()
})
process.once('disconnect', () => process.exit(0))
process.on('unhandledRejection', (error) => {
  report(error)
  process.exit(1)
})
tell({ kind: 'ready', port: served.port })
