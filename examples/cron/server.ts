/** Runs that the server starts itself, one every second, and only once for all instances. */
import { type AgentEngine, createAgentServer, defineAgent, textOf } from 'agentwire'
import { serve } from 'agentwire/node'
import { openStorage } from 'agentwire/storage'

const EVERY_MS = 1_000

const report = defineAgent({
  async run({ messages, message }) {
    await message(`Report of ${textOf(messages.at(-1)!)}`)
  },
})

/** Starts a run every second. All instances do, but only one run starts, because they use the same key. */
function startRuns(engine: AgentEngine): void {
  const time = new Date(Math.floor(Date.now() / EVERY_MS) * EVERY_MS).toISOString()
  setTimeout(() => startRuns(engine), EVERY_MS - (Date.now() % EVERY_MS))
  const input = { messages: [{ role: 'user', content: time }] }
  const thread = { threadId: 'reports' }
  engine
    .start({ ...thread, input, command: { key: time, fingerprint: 'report' } })
    .then(({ runId }) => engine.wait({ ...thread, runId }))
    .then(({ status, error }) => console.log(time, status, error ?? ''), console.error)
}

// Two instances over one storage, which are two processes in production: memory here, or `file:reports.db`,
// `postgres://…`, `redis://…`.
const storage = await openStorage(process.env.STORAGE_URL ?? 'memory:')
await storage.setup()
const instances = [1, 2].map(() => createAgentServer({ agents: { report }, ...storage }))
await serve(instances[0]!, { port: Number(process.env.PORT ?? 3000) })
for (const { engine } of instances) startRuns(engine)
