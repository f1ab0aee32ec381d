import { chmodSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandLine, GRAPH, write } from './projects.ts'

const { project, agentwire, serve } = commandLine()
const FILES = { 'langgraph.json': { graphs: { agent: './graph.ts:graph' } }, 'graph.ts': GRAPH }

test('dev opens the devtools, reloads after an edit, and logs requests', async () => {
  const folder = project(FILES)
  const browser = join(folder, 'browser')
  write(folder, { browser: `#!/bin/sh\necho "$1" >"${folder}/opened.txt"\n` })
  chmodSync(browser, 0o755)
  const args = ['dev', '--config', join(folder, 'langgraph.json'), '--port', '0']
  const dev = agentwire(args, { BROWSER: browser })
  const [, url] = /devtools (http\S+)/.exec(await dev.output(/devtools http\S+\n/))!
  await expect.poll(() => readFile(join(folder, 'opened.txt'), 'utf8').catch(() => '')).toBe(`${url}\n`)
  expect((await fetch(url!.replace('/devtools', '/info'))).status).toBe(200)
  expect((await fetch(`${url}/api/threads`)).status).toBe(200)
  expect(await dev.output(/GET \/info 200/)).not.toContain('/devtools/api')
  write(folder, { 'graph.ts': GRAPH.replace('heard', 'read') })
  await dev.output(/Reloaded: agent/)
})

test('dev --no-open opens nothing, and says so where there is no browser', async () => {
  const config = ['--config', join(project(FILES), 'langgraph.json'), '--port', '0']
  const lacking = agentwire(['dev', ...config], { BROWSER: '/no/such/browser' })
  await lacking.output(/No browser was found\. Open http\S+\/devtools yourself/)
  const closed = agentwire(['dev', '--no-open', ...config], { BROWSER: '/no/such/browser' })
  const [, url] = /devtools (http\S+)/.exec(await closed.output(/devtools http\S+\n/))!
  await fetch(url!.replace('/devtools', '/info'))
  expect(await closed.output(/GET \/info 200/)).not.toContain('browser')
})

test('serve has the devtools on this machine, and not in production, for other machines or where they are turned off', async () => {
  const folder = project(FILES)
  const has = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const { origin, told } = await serve(folder, args, env)
    const { status } = await fetch(`${origin}/devtools/api/threads`)
    return [told.devtools, status]
  }
  expect(await has([])).toEqual([true, 200])
  expect(await has([], { NODE_ENV: 'production' })).toEqual([false, 404])
  expect(await has(['--no-devtools'])).toEqual([false, 404])
  expect(await has(['--host', '0.0.0.0'])).toEqual([false, 404])
})
