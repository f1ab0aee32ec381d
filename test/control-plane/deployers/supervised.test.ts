import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Supervised, spawnSupervised } from '../../../src/control-plane/deployers/supervised.ts'
import { isRunning } from '../../kit/processes.ts'
import { programs } from '../../kit/program.ts'
import { eventually } from '../../kit/wait.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentwire-supervised-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const env = { PATH: process.env.PATH }
/** A program that starts a child of its own, which says its process id and then stays; neither heeds SIGTERM where it is told so. */
const family = ({ ignores = false, isDetached = false, parentStays = true } = {}) => `
const ignore = ${ignores} ? "process.on('SIGTERM', () => {});" : ''
const child = require('node:child_process').spawn(process.execPath,
  ['-e', ignore + "console.log('child ' + process.pid); setInterval(() => {}, 1000)"], { stdio: ['ignore', 'pipe', 'ignore'], detached: ${isDetached} })
child.stdout.on('data', (text) => { process.stdout.write(text); ${parentStays ? '' : 'setTimeout(() => process.exit(3), 50)'} })
eval(ignore)
setInterval(() => {}, 1000)
`

const start = (script: string): Promise<Supervised> =>
  spawnSupervised({ command: [process.execPath, '-e', script], cwd: folder, env })

async function childOf(running: Supervised): Promise<number> {
  let text = ''
  running.stdout!.on('data', (part) => {
    text += part
  })
  await eventually(() => /child \d+\n/.test(text), { timeoutMs: 200_000 })
  return Number(/child (\d+)\n/.exec(text)![1])
}

describe('a command that is stopped', () => {
  test('ends with its children at SIGTERM', async () => {
    const running = await start(family())
    const child = await childOf(running)
    expect(await running.stop(10_000)).toEqual({ code: null, signal: 'SIGTERM' })
    expect([isRunning(running.pid), isRunning(child)]).toEqual([false, false])
  })

  test('is killed with its children when the grace is over', async () => {
    const running = await start(family({ ignores: true }))
    const child = await childOf(running)
    const began = Date.now()
    expect(await running.stop(300)).toEqual({ code: null, signal: 'SIGKILL' })
    expect(Date.now() - began).toBeGreaterThanOrEqual(290)
    await eventually(() => !isRunning(child), { timeoutMs: 200_000 })
  })

  test('leaves its children the whole grace when it ends before them', async () => {
    const script = `
      require('node:child_process').spawn(process.execPath, ['-e', "process.on('SIGTERM', () => setTimeout(() => { require('node:fs').writeFileSync('drained', ''); process.exit() }, 300)); console.log('child ' + process.pid)"
        + "; setInterval(() => {}, 1000)"], { stdio: 'inherit' })
      setInterval(() => {}, 1000)`
    const running = await start(script)
    const child = await childOf(running)
    await running.stop(10_000)
    expect(isRunning(child)).toBe(false)
    expect(await readFile(join(folder, 'drained'), 'utf8')).toBe('')
  })

  test('may be stopped twice, and after its end', async () => {
    const running = await start(family({ ignores: true }))
    await childOf(running)
    const first = running.stop(60_000)
    expect(await running.stop(100)).toEqual({ code: null, signal: 'SIGKILL' })
    expect(await first).toEqual(await running.ended)
    expect(await running.stop(0)).toEqual(await running.ended)
  })
})

describe('what a command leaves behind', () => {
  test('is killed when the command ends', async () => {
    const running = await start(family({ parentStays: false, ignores: true }))
    const child = await childOf(running)
    expect(await running.ended).toEqual({ code: 3, signal: null })
    await eventually(() => !isRunning(child), { timeoutMs: 200_000 })
  })

  test.runIf(process.platform === 'linux')('is killed in a process group of its own, too', async () => {
    const running = await start(family({ parentStays: false, ignores: true, isDetached: true }))
    const child = await childOf(running)
    expect(await running.ended).toEqual({ code: 3, signal: null })
    await eventually(() => !isRunning(child), { timeoutMs: 200_000 })
  })
})

describe('when our own process is killed', () => {
  const startProgram = programs()
  const source = new URL('../../../src/control-plane/deployers/supervised.ts', import.meta.url).href

  /** A process of its own that starts a family and does more before it tells the ids, and is killed then. Gives the ids of the family. */
  async function killOurs(kind: Parameters<typeof family>[0], more = ''): Promise<readonly number[]> {
    const code = `import { spawnSupervised } from ${JSON.stringify(source)}
      import { execFileSync } from 'node:child_process'
      const running = await spawnSupervised({ command: [process.execPath, '-e', ${JSON.stringify(family(kind))}],
        cwd: ${JSON.stringify(folder)}, env: { PATH: process.env.PATH } })
      running.stdout.on('data', async (text) => { ${more}; console.log('command ' + running.pid + '\\n' + text) })`
    const ours = startProgram(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code])
    const pids = [...(await ours.output(/child \d+/)).matchAll(/(?:command|child) (\d+)/g)].map(([, pid]) =>
      Number(pid),
    )
    expect(pids.map(isRunning)).toEqual([true, true])
    ours.child.kill('SIGKILL')
    return pids
  }
  const allEnd = (pids: readonly number[]) =>
    eventually(() => !pids.some(isRunning), { timeoutMs: 200_000, what: 'The end of all processes' })

  test('a command and its children end within five seconds', async () => allEnd(await killOurs({})))

  test('those that ignore SIGTERM end within five seconds', async () =>
    allEnd(await killOurs({ ignores: true })))

  test.runIf(process.platform === 'linux')(
    'children in a process group of their own end within five seconds',
    async () => allEnd(await killOurs({ ignores: true, isDetached: true })),
  )

  test('they end even where the process that watches them was replaced', async () => {
    const replace = `
      const watcher = () => Number(execFileSync('ps', ['-e', '-o', 'pid=,ppid=,sid='], { encoding: 'utf8' }).split('\\n')
        .map((line) => line.trim().split(/ +/)).find(([pid, parent, session]) =>
          Number(parent) === process.pid && session === pid && Number(pid) !== running.pid)?.[0])
      const first = watcher()
      process.kill(first, 'SIGKILL')
      for (let next = first; Number.isNaN(next) || next === first; next = watcher()) await new Promise((resolve) => setTimeout(resolve, 20))
      await new Promise((resolve) => setTimeout(resolve, 300))`
    await allEnd(await killOurs({}, replace))
  })
})
