import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { expect, test } from 'vitest'
import { programs, typescript } from '../kit/program.ts'

const run = programs()

test('the demo prints its address, and the lines that it says to paste work', async () => {
  const demo = start({ PORT: '0' })
  const text = await demo.output(/Ctrl-C stops the demo/)
  const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(text)![0]
  expect(await (await fetch(`${origin}/ok`)).json()).toEqual({ ok: true })
  expect(await (await fetch(`${origin}/`)).text()).toContain('<title>agentwire demo</title>')
  expect((await fetch(`${origin}/nothing`)).status).toBe(404)

  const [command, stream, state] = text.split('\n').filter((line) => line.startsWith('curl '))
  expect(await run('bash', ['-c', command!]).output(/}$/)).toMatch(
    /^{"type":"success","id":1,"result":{"run_id":/,
  )
  const events = await run('bash', ['-c', stream!]).output(/"namespace":\[\].*"event":"completed"/)
  expect(events).toContain('"tool_name":"task"')
  expect(await run('bash', ['-c', state!]).output(/}$/)).toContain('6 * 7 = 42.')

  demo.child.kill('SIGTERM')
  expect(await demo.exit).toBe(0)
})

test('the quick start of the control plane runs as it is printed', async () => {
  const demo = start({ PORT: '0' })
  const text = await demo.output(/Ctrl-C stops the demo/)
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
}, 60_000)

test('a port in use is reported in one plain line', async () => {
  const other = await listen()
  const { port } = other.address() as AddressInfo
  const demo = start({ PORT: String(port) })
  expect(await demo.exit).toBe(1)
  expect(complaint(demo.text())).toEqual([
    expect.stringMatching(`^Port ${port} is already in use\\..*PORT=${port + 1} npm`),
  ])
  other.close()
})

test.each(['http', '65536'])('PORT=%s is refused with one plain line', async (port) => {
  const demo = start({ PORT: port })
  expect(await demo.exit).toBe(1)
  expect(complaint(demo.text())).toEqual([`PORT must be a number from 0 to 65535, not “${port}”.`])
})

test.each([
  ['mysql://me:s3cret@127.0.0.1/db', /^STORAGE_URL: No storage has URLs that begin with mysql:/],
  ['postgres://me:s3cret@127.0.0.1:1/db', /^STORAGE_URL: Postgres cannot be reached/],
])('STORAGE_URL=%s is refused with one plain line', async (url, message) => {
  const demo = start({ PORT: '0', STORAGE_URL: url })
  expect(await demo.exit).toBe(1)
  expect(complaint(demo.text())).toEqual([expect.stringMatching(message)])
  expect(demo.text()).not.toContain('s3cret')
})

function start(env: Record<string, string>) {
  const plain = { ...process.env, OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '', STORAGE_URL: '', ...env }
  return run(process.execPath, typescript('examples/demo/main.ts'), plain)
}

/** The printed lines without the notice that nobody needs to sign in. */
function complaint(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('agentwire: no `authenticate`'))
}

function listen(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => resolve(server))
  })
}
