import { type ChildProcess, spawn } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { root } from '../package/package.ts'

const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

test('says where it is, and the lines it says to paste work', async () => {
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

test('a port in use is one plain line', async () => {
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

function start(env: Record<string, string>) {
  const plain = { ...process.env, OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '', ...env }
  return run(process.execPath, ['--import', 'tsx', join(root, 'examples/demo/main.ts')], plain)
}

function run(command: string, args: string[], env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let text = ''
  const heard = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      for (const listen of heard) listen()
    })
  const exit = new Promise<number | null>((resolve) => child.on('close', resolve))
  /** What it has printed, as soon as that matches. */
  const output = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        if (pattern.test(text)) resolve(text)
      }
      heard.add(look)
      look()
      void exit.then(() => reject(new Error(`It ended and never printed ${pattern}:\n${text}`)))
    })
  return { child, exit, output, text: () => text }
}

/** What it printed, but for the notice that nobody needs to sign in. */
function complaint(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('agentwire: no `authenticate`'))
}

function listen(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => resolve(server))
  })
}
