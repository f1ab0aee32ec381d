/** The configurations of `docs/docker.md`, in the proxies that they are written for. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type Served, serve } from '../../adapters/node.ts'
import { serverChecks } from '../../src/cli/doctor/running.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { request } from '../kit/client.ts'
import { freePort } from '../kit/listen.ts'
import { type Program, startProgram } from '../kit/program.ts'
import { read } from './fences.ts'

interface Proxy {
  readonly name: string
  /** Starts it with the configuration of the page, on these ports and in this folder. */
  start(ports: { readonly own: number; readonly server: number }, folder: string): Program
}

const PROXIES: readonly Proxy[] = [
  {
    name: 'nginx',
    start({ own, server }, folder) {
      const config = read('docs/snippets/docker/nginx.conf')
        .replace('agents:8000', `127.0.0.1:${server}`)
        .replace('listen 80;', `listen 127.0.0.1:${own};`)
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${folder};`,
      )
      const file = join(folder, 'nginx.conf')
      writeFileSync(file, config.replace('http {', `http {\n${temporary.join('\n')} access_log off;`))
      const directives = `daemon off; pid ${join(folder, 'nginx.pid')}; error_log stderr notice;`
      return startProgram('nginx', ['-e', 'stderr', '-c', file, '-g', directives])
    },
  },
  {
    name: 'caddy',
    start({ own, server }, folder) {
      const config = read('docs/snippets/docker/Caddyfile')
        .replace('agents:8000', `127.0.0.1:${server}`)
        .replace('agents.example.com', `http://127.0.0.1:${own}, http://agents.example.com:${own}`)
      const file = join(folder, 'Caddyfile')
      writeFileSync(file, `{\n\tadmin off\n}\n${config}`)
      const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
      return startProgram('caddy', ['run', '--adapter', 'caddyfile', '--config', file], env)
    },
  },
]

const isInstalled = (name: string): boolean =>
  spawnSync(name, [name === 'nginx' ? '-v' : 'version']).status === 0

/** The text of a response. `fetch` sends no `host` of ours. */
const getText = async (url: string, headers: Readonly<Record<string, string>>): Promise<string> => {
  const [response] = await once(get(url, { headers }), 'response')
  return text(response)
}

/** The agent waits between its words, until the page has read the first. */
let hasRead: () => void
let isRead: Promise<void>
beforeEach(() => {
  isRead = new Promise((resolve) => {
    hasRead = resolve
  })
})
const agent = defineAgent({
  async run({ message }) {
    const answer = message()
    await answer.text('Hello')
    await isRead
    await answer.text(' there')
  },
})
const INPUT = { messages: [{ type: 'human', content: 'Hello' }] }

const missing = PROXIES.filter(({ name }) => !isInstalled(name)).map(({ name }) => name)
if (missing.length > 0) console.log(`Not tested, because not installed: ${missing.join(', ')}`)

describe.each(PROXIES.filter(({ name }) => !missing.includes(name)))('$name', ({ start }) => {
  let served: Served
  let proxy: Program
  let origin: string
  const folder = mkdtempSync(join(tmpdir(), 'agentwire-proxy-'))

  beforeAll(async () => {
    const server = createAgentServer({ agents: { agent }, authenticate: () => ({ id: 'ada' }) })
    served = await serve(server, { port: 0, trustProxy: true, silent: true })
    const own = await freePort()
    origin = `http://127.0.0.1:${own}`
    proxy = start({ own, server: served.port }, folder)
    await proxy.output(/start worker process|serving initial configuration/)
  })
  afterAll(async () => {
    proxy.child.kill()
    await proxy.exit
    await served.close()
    rmSync(folder, { recursive: true })
  })

  test.each(['sse', 'websocket'] as const)('%s: a word arrives while the run goes on', async (transport) => {
    const client = new Client({ apiUrl: origin })
    const thread = client.threads.stream({
      assistantId: 'agent',
      transport,
      webSocketFactory: (url) => new WebSocket(url) as never,
    })
    await thread.run.start({ input: INPUT })
    for await (const message of thread.messages) {
      for await (const word of message.text) {
        expect(word).toBe('Hello')
        break
      }
      break
    }
    hasRead()
    expect(await thread.output).toMatchObject({ messages: [{}, { content: 'Hello there' }] })
    await thread.close()
  })

  test('agentwire doctor finds that streams are not buffered', async () => {
    const checks = await serverChecks(new URL(origin), new Headers())
    expect(checks.find(({ check }) => check === 'streaming')).toMatchObject({ level: 'ok' })
  })

  test('attachments pass, and a body that is too big gets the error of the server', async () => {
    const input = { messages: [{ role: 'user', content: 'a'.repeat(3_000_000) }] }
    const start = { id: 1, method: 'run.start', params: { input } }
    expect((await request(origin, 'POST', '/threads/attached/commands', start)).status).toBe(200)
    const metadata = { text: 'a'.repeat(4_500_000) }
    const { status, body } = await request(origin, 'POST', '/threads', { metadata })
    expect([status, body.error]).toEqual([413, 'payload_too_large'])
  })

  test('the server knows the address that its users see, and which pages are its own', async () => {
    const host = `agents.example.com:${new URL(origin).port}`
    const card = await getText(`${origin}/.well-known/agent-card.json`, { host })
    expect(card).toContain(`"http://${host}/`)
    const post = async (page: string) =>
      (await request(origin, 'POST', '/threads', '{}', { origin: page, 'content-type': 'text/plain' })).status
    expect(await post('https://evil.example')).toBe(403)
    expect(await post(origin)).toBe(200)
  })

  test('a client cannot say that it came by HTTPS, or to another host', async () => {
    const forged = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' }
    expect(await getText(`${origin}/.well-known/agent-card.json`, forged)).toContain(`"${origin}/`)
  })
})
