/** Runs that the server starts by itself, every second, and once each, however many instances there are. */
import { type AgentEngine, createAgentServer, defineAgent, textOf } from 'agentwire'
import { serve } from 'agentwire/node'
import { openStorage } from 'agentwire/storage'

const EVERY_MS = 1_000

const report = defineAgent({
  async run({ messages, message }) {
    await message(`Report of ${textOf(messages.at(-1)!)}`)
  },
})

/** Starts the run of each second. Of all instances that do, one runs it, because they give it the same key. */
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

// Two instances, which are two processes in life, over one storage: memory here, or `file:reports.db`, `postgres://…`, `redis://…`.
const storage = await openStorage(process.env.STORAGE_URL ?? 'memory:')
await storage.setup()
const instances = [1, 2].map(() => createAgentServer({ agents: { report }, ...storage }))
await serve(instances[0]!, { port: Number(process.env.PORT ?? 3000) })
for (const { engine } of instances) startRuns(engine)
