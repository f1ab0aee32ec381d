import { ListenError, serve } from '../../adapters/node.ts'
import { AgentwireError, type ServerOptions } from '../../src/index.ts'
import { openStorage, withoutPassword } from '../../src/storage/open.ts'
import { demoControlPlane, quickStart } from './control-plane.ts'
import { chooseModels } from './models.ts'
import { createDemo } from './server.ts'

const { PORT = '3000', HOST = '127.0.0.1', TCK } = process.env
const storageUrl = process.env.STORAGE_URL || 'memory:'
const port = Number(PORT)
if (!/^\d+$/.test(PORT) || port > 65_535) stop(`PORT must be a number from 0 to 65535, not “${PORT}”.`)

const models = await chooseModels(process.env)
const storage = await openReady(storageUrl)
const { controlPlane, key } = demoControlPlane()
const served = await serve(createDemo(models, { ...storage, a2a: a2aFor(TCK), controlPlane }), {
  port,
  hostname: HOST,
  silent: true,
}).catch((error) => {
  if (error instanceof ListenError) stop(`${error.message} Such as: PORT=${port + 1} npm run demo`)
  throw error
})

const { origin } = served
const post = (path: string, body: object) =>
  `curl -sN ${origin}${path} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`
const start = {
  id: 1,
  method: 'run.start',
  params: { assistant_id: 'agent', input: { messages: [{ role: 'user', content: 'What is 6 * 7?' }] } },
}
const message = { role: 'user', messageId: 'm1', parts: [{ kind: 'text', text: 'What is 6 * 7?' }] }
const send = { jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message } }
console.log(`
The demo runs with ${models.label}. OPENAI_API_KEY or ANTHROPIC_API_KEY choose a provider's model.
${kept(storageUrl)}

  The chat page    ${origin}/
  Is it up?        ${origin}/ok
  All threads      ${origin}/threads
  Its agent card   ${origin}/.well-known/agent-card.json?assistant_id=agent

Try it from another terminal: start a run, watch its events (Ctrl-C ends that), read the state, call the agent over A2A.

${post('/threads/hello/commands', start)}
${post('/threads/hello/stream', { channels: ['lifecycle', 'tools', 'messages'] })}
curl -s ${origin}/threads/hello/state
${post('/a2a/agent', send)}

Deploy the agent of examples/deployed with the control plane: create it, wait until it is DEPLOYED, ask it, give it another secret.
${origin}/docs describes the API.

${quickStart(origin, key)}

Ctrl-C stops the demo.
`)

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    served
      .close()
      .then(() => storage.close())
      .then(() => process.exit(0), fail)
  })

/** The storage behind the URL, once it has been reached. */
async function openReady(url: string) {
  try {
    const opened = await openStorage(url)
    await opened.setup()
    return opened
  } catch (error) {
    if (error instanceof AgentwireError) stop(`STORAGE_URL: ${error.message}`)
    throw error
  }
}

/** For a run of an A2A compatibility kit: its receiver of webhooks is on this machine, and that for 1.0 reads no cards but of 1.0. */
function a2aFor(kit: string | undefined): ServerOptions['a2a'] {
  if (!kit) return undefined
  return { push: { allowLoopback: true }, card: kit === '1.0' ? { headerless: '1.0' } : undefined }
}

function kept(url: string): string {
  return url === 'memory:'
    ? 'Its threads are gone when it stops. STORAGE_URL=file:demo.db, or postgres://…, keeps them.'
    : `Its threads are kept in ${withoutPassword(url)}. Those that a crash cut off go on within half a minute.`
}

function stop(message: string): never {
  console.error(message)
  process.exit(1)
}

function fail(error: unknown): never {
  console.error(error)
  process.exit(1)
}
