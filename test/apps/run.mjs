/**
 * Applications of others, unchanged, in Chromium against agents that agentwire serves:
 *
 *   node test/apps/run.mjs agent-chat-ui
 *   node test/apps/run.mjs deep-agents-ui <clone>
 *   node test/apps/run.mjs cookbook <clone>
 *
 * Each is copied into a temporary folder, installed and built there. agent-chat-ui comes from npm, as the template of
 * `create-agent-chat-app`. npm does not have the others, so clone them first:
 *
 *   git clone https://github.com/langchain-ai/deep-agents-ui
 *   git clone https://github.com/langchain-ai/deployment-cookbook
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROOT, run } from '../kit/install.mjs'

/**
 * How an app is found, built and started. `at` is where it is in what was cloned or packed.
 *
 * @typedef {object} App
 * @property {string} [npm]
 * @property {string} at
 * @property {readonly string[]} build
 * @property {readonly string[]} start
 */

/** @type {Readonly<Record<string, App>>} */
const APPS = {
  'agent-chat-ui': {
    npm: 'create-agent-chat-app@0.1.6',
    at: 'package/templates/vite',
    build: ['vite', 'build'],
    start: ['vite', 'preview', '--host', '127.0.0.1', '--strictPort', '--port'],
  },
  'deep-agents-ui': {
    at: '.',
    build: ['next', 'build'],
    start: ['next', 'start', '--hostname', '127.0.0.1', '--port'],
  },
  cookbook: {
    at: 'js-langsmith',
    build: ['vite', 'build'],
    start: ['vite', 'preview', '--host', '127.0.0.1', '--strictPort', '--port'],
  },
}

const [name = '', clone = ''] = process.argv.slice(2)
const app = APPS[name]
if (!app || (!app.npm && clone === '')) {
  console.error(readFileSync(import.meta.filename, 'utf8').split(' */')[0])
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), `agentwire-${name}-`))
try {
  process.exitCode = await runApp(app, fetchApp(app))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/**
 * Copies the app into the temporary folder, and gives its place.
 *
 * @param {App} app
 */
function fetchApp({ npm, at }) {
  if (npm === undefined) {
    const filter = (/** @type {string} */ path) => !/\/(node_modules|\.next|\.git)$/.test(path)
    cpSync(join(clone, at), join(folder, 'app'), { recursive: true, filter })
    return join(folder, 'app')
  }
  must('npm', ['pack', '--silent', npm], folder)
  const packed = readdirSync(folder).find((file) => file.endsWith('.tgz'))
  must('tar', ['-xzf', packed ?? '', '-C', folder], folder)
  return join(folder, at)
}

/**
 * @param {App} app
 * @param {string} place
 */
async function runApp({ build, start }, place) {
  must('npm', ['install', '--legacy-peer-deps', '--no-audit', '--no-fund', '--loglevel=error'], place)
  const [port, api] = [await freePort(), await freePort()]
  const env = { ...process.env, VITE_AGENT_API_URL: `http://127.0.0.1:${api}`, NEXT_TELEMETRY_DISABLED: '1' }
  must('npx', build, place, env)
  const [command = '', ...args] = [...start, String(port)]
  const served = spawn(join(place, 'node_modules/.bin', command), args, { cwd: place, env, stdio: 'ignore' })
  try {
    const origin = `http://127.0.0.1:${port}`
    while (!(await fetch(origin).catch(() => undefined))) {
      if (served.exitCode !== null) throw new Error(`${command} ended with ${served.exitCode}.`)
      await sleep(50)
    }
    return run(
      process.execPath,
      ['--import', 'tsx', join(ROOT, `test/apps/${name}.ts`), origin, String(api)],
      ROOT,
    )
  } finally {
    served.kill()
  }
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} [env]
 */
function must(command, args, cwd, env) {
  const status = run(command, [...args], cwd, env)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}.`)
}

/** @returns {Promise<number>} */
function freePort() {
  const probe = createServer()
  return new Promise((resolve) => {
    probe.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
      probe.close(() => resolve(port))
    })
  })
}
