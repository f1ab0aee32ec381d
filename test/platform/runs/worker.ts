import { serve } from '../../../adapters/node.ts'
import { createAgentServer, defineAgent } from '../../../src/index.ts'
import { openStorage } from '../../../src/storage/open.ts'

/** A server whose runs begin and never end, until it is killed. */
const { store, checkpointer, setup } = await openStorage(process.env.STORAGE!)
await setup()
const echo = defineAgent({
  async run({ run }) {
    console.log(`began ${run.id}`)
    await new Promise(() => {})
  },
})
const server = createAgentServer({
  agents: { echo },
  store,
  checkpointer,
  leaseTtlMs: 1_000,
  platform: { webhooks: { allowLoopback: true } },
  onError: (error) => console.error('reported', error),
})
const { origin } = await serve(server, { port: 0, silent: true })
console.log(`ready ${origin}`)
