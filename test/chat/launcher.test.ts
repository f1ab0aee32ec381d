import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { expect, test } from 'vitest'
import { demos } from './demo.ts'

const { run, launch, launchWithNpm, ready } = demos()

test('the demo prints its address, and the lines that it says to paste work', async () => {
  const demo = await ready(launch())
  const { origin } = demo
  expect(await (await fetch(`${origin}/ok`)).json()).toEqual({ ok: true })
  const page = await fetch(`${origin}/`)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect((await fetch(`${origin}/nothing`)).status).toBe(404)
  expect(
    await (await fetch(`${origin}/.well-known/agent-card.json?assistant_id=agent`)).json(),
  ).toMatchObject({
    url: `${origin}/a2a/agent`,
  })

  // The doors that it names are open.
  const get = async (path: string) => (await fetch(`${origin}${path}`)).json()
  expect(demo.text()).toContain(`${origin}/v1\n`)
  expect(await get('/v1/models')).toMatchObject({ object: 'list', data: [{ id: 'agent' }, {}, {}] })
  expect(await get('/ag-ui/info')).toMatchObject({ agents: { agent: {}, secretary: {}, echo: {} } })
  expect((await fetch(`${origin}/api/chat/nobody/stream`)).status).toBe(204)
  const list = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  expect(await list.text()).toContain('"name":"secretary"')

  const lines = demo.text().split('\n')
  const [command, stream, state, a2a] = lines.filter((line) => line.startsWith('curl '))
  expect(await run('bash', ['-c', command!]).output(/}$/)).toMatch(
    /^{"type":"success","id":1,"result":{"run_id":/,
  )
  const events = await run('bash', ['-c', stream!]).output(/"namespace":\[\].*"event":"completed"/)
  expect(events).toContain('"tool_name":"task"')
  expect(await run('bash', ['-c', state!]).output(/}$/)).toContain('6 * 7 = 42.')
  expect(await run('bash', ['-c', a2a!]).output(/"final":true/)).toContain('"text":" 42."')

  demo.child.kill('SIGTERM')
  expect(await demo.exit).toBe(0)
  await expect(fetch(`${origin}/ok`)).rejects.toThrow()
})

test('it prints nothing but what is built, and what there is to try', async () => {
  const demo = await ready(launch())
  const [first] = demo
    .text()
    .split('\n')
    .filter((line) => line !== '')
  expect(first).toMatch(/^The chat runs with a scripted model \(offline\)/)
  demo.child.kill('SIGTERM')
  expect(await demo.exit).toBe(0)
})

test('the quick start of the control plane runs as it is printed', async () => {
  const demo = await ready(launch())
  const text = demo.text()
  const script = text.slice(text.indexOf('\napi='), text.indexOf('Ctrl-C stops'))
  const quickStart = run('sh', ['-c', script])
  expect(await quickStart.exit).toBe(0)
  expect(quickStart.text().trim().split('\n')).toEqual([
    'DEPLOYED',
    'Good morning! You said: Who are you?',
    'DEPLOYED',
    'Good evening! You said: Who are you?',
  ])
  demo.child.kill('SIGTERM')
  expect(await demo.exit).toBe(0)
})

test('Ctrl-C in the middle of a run leaves no process', async () => {
  const demo = await ready(launchWithNpm())
  const group = demo.child.pid!
  const params = { assistant_id: 'agent', input: { messages: 'Tell me a long story' } }
  await fetch(`${demo.origin}/threads/t/commands`, {
    method: 'POST',
    body: JSON.stringify({ id: 1, method: 'run.start', params }),
  })
  const stream = await fetch(`${demo.origin}/threads/t/stream`, {
    method: 'POST',
    body: JSON.stringify({ channels: ['messages'] }),
  })
  process.kill(-group, 'SIGINT')
  await demo.exit
  await expect(stream.text()).rejects.toThrow()
  expect(() => process.kill(-group, 0)).toThrow('ESRCH')
})

test('SIGTERM for npm alone ends everything too', async () => {
  const demo = await ready(launchWithNpm())
  demo.child.kill('SIGTERM')
  // Settles when the last process has closed what it prints to.
  await demo.exit
  await expect(fetch(`${demo.origin}/ok`)).rejects.toThrow()
})

test('a port in use is reported in one plain line', async () => {
  const other = await listen()
  const { port } = other.address() as AddressInfo
  const demo = launch({ PORT: String(port) })
  expect(await demo.exit).toBe(1)
  expect(demo.text().trim().split('\n')).toEqual([
    expect.stringMatching(`^Port ${port} is already in use\\..*PORT=${port + 1} npm`),
  ])
  other.close()
})

test.each([
  [{ PORT: 'http' }, 'PORT must be a number from 0 to 65535, not “http”.'],
  [{ PORT: '65536' }, 'PORT must be a number from 0 to 65535, not “65536”.'],
  [{ SPEED: 'fast' }, 'SPEED must be a number of tokens a second, not “fast”.'],
])('%j is refused with one plain line', async (env, line) => {
  const demo = launch(env)
  expect(await demo.exit).toBe(1)
  expect(demo.text().trim()).toBe(line)
})

test.each([
  ['mysql://me:s3cret@127.0.0.1/db', /^STORAGE_URL: Unsupported storage URL scheme mysql:/],
  ['postgres://me:s3cret@127.0.0.1:1/db', /^STORAGE_URL: Postgres cannot be reached at 127\.0\.0\.1:1\./],
])('STORAGE_URL=%s is refused with one plain line', async (url, message) => {
  const demo = launch({ STORAGE_URL: url })
  expect(await demo.exit).toBe(1)
  expect(demo.text().trim().split('\n')).toEqual([expect.stringMatching(message)])
  expect(demo.text()).not.toContain('s3cret')
})

function listen(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => resolve(server))
  })
}
