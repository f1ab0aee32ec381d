import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { chat } from '../cli/projects.ts'
import { read } from '../docs/fences.ts'
import { freePort } from '../kit/listen.ts'
import { programs, typescript } from '../kit/program.ts'
import { root } from '../package/package.ts'
import { writeProject } from './support/deploying.ts'

const start = programs()

/** What the page has for the reader's own folder and address, with those of this test. */
const here = (text: string, folder: string, port: number): string =>
  text.replaceAll('/srv/agents/', `${folder}/`).replaceAll('3000', String(port))

test('the first curl of the page deploys an agent on the server above it', { timeout: 240_000 }, async () => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'agentwire-curl-')))
  const copies = `.tmp/first-curl-${process.pid}`
  onTestFinished(() => {
    for (const folder of [place, join(root, copies)]) rmSync(folder, { recursive: true, force: true })
  })
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  mkdirSync(join(place, 'my-agent'))
  mkdirSync(join(root, copies), { recursive: true })
  writeProject(join(place, 'my-agent'), "'deployed'")

  const port = await freePort()
  const [server] = read('docs/snippets/control-plane.ts').split('// #endregion') as [string]
  const program = here(server, place, port)
    .replace('./kit/', join(root, 'docs/snippets/kit/'))
    .replace("join(tmpdir(), 'agentwire-docs-')", `'${place}/'`)
  writeFileSync(join(root, copies, 'server.ts'), program)
  await start('node', typescript(`${copies}/server.ts`)).output(/listens on/)

  const [, curl] = /^```sh\n(curl .*?)^```$/ms.exec(read('docs/control-plane.md'))!
  const headers = { 'x-api-key': 'key-of-ci' }
  const env = { ...process.env, CI_KEY: headers['x-api-key'] }
  const called = start('sh', ['-c', `${here(curl!, place, port).trimEnd()} --fail-with-body --silent`], env)
  expect(await called.exit, called.text()).toBe(0)
  const { id, latest_revision_id } = JSON.parse(called.text())

  const base = `http://127.0.0.1:${port}/v2/deployments/${id}`
  const get = async (path = '') => (await fetch(base + path, { headers })).json()
  const revision = () => get(`/revisions/${latest_revision_id}`)
  await expect
    .poll(revision, { timeout: 240_000 })
    .toMatchObject({ status: expect.stringMatching(/DEPLOYED|FAILED/) })
  expect(await revision()).toMatchObject({ status: 'DEPLOYED', status_message: null })
  const { source_config } = await get()
  expect((await chat(source_config.custom_url, 'agent')).texts[1]).toBe('deployed hello')
})
