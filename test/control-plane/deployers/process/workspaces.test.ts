import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { buildSource } from '../../../../src/control-plane/deployers/process/build.ts'
import { workspaceOf } from '../../../../src/control-plane/deployers/process/workspaces.ts'
import { type Files, write } from '../../../cli/projects.ts'

const PROGRAMS = ['npm', 'npx', 'yarn', 'pnpm', 'bun']

/** A source, and programs that only note how they are called. */
function source(files: Files, { yarn = '1.22.22' } = {}) {
  const place = mkdtempSync(join(tmpdir(), 'agentwire-workspace-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  const folder = join(place, 'source')
  write(folder, files)
  const calls = join(place, 'calls')
  writeFileSync(calls, '')
  for (const program of PROGRAMS) {
    const version = `if [ "$1" = --version ]; then echo ${yarn}; exit; fi`
    const note = `echo "$(basename "$PWD") ${program} $* $YARN_NODE_LINKER" >> '${calls}'`
    write(place, { [`bin/${program}`]: `#!/bin/sh\n${version}\n${note}\n` })
    chmodSync(join(place, 'bin', program), 0o755)
  }
  const build = async (configPath: string): Promise<readonly string[]> => {
    const env = { PATH: `${join(place, 'bin')}:/usr/bin:/bin` }
    const signal = new AbortController().signal
    await buildSource({ folder, configPath, env, signal, sourceConfig: {}, log: () => {} })
    return readFileSync(calls, 'utf8').trim().split('\n')
  }
  return { folder, build }
}

const agent: Files = {
  'apps/agent/package.json': { name: 'agent', dependencies: { '@internal/tools': '*' } },
  'apps/agent/langgraph.json': {},
  'packages/tools/package.json': { name: '@internal/tools' },
}

test.each<[string, Files, string]>([
  [
    'npm',
    { 'package.json': { workspaces: ['apps/*', 'packages/*'] }, 'package-lock.json': {} },
    'source npm ci node-modules',
  ],
  [
    'pnpm',
    {
      'package.json': {},
      'pnpm-workspace.yaml': "packages:\n  - 'apps/**' # all\n  - packages/*\n",
      'pnpm-lock.yaml': '',
    },
    'source pnpm install --frozen-lockfile node-modules',
  ],
  [
    'Yarn 1',
    { 'package.json': { workspaces: { packages: ['apps/*'] } }, 'yarn.lock': '' },
    'source yarn install --frozen-lockfile node-modules',
  ],
  [
    'Yarn 4 without a settings file, where the machine has Yarn 1',
    { 'package.json': { workspaces: ['apps/*'] }, 'yarn.lock': '__metadata:\n  version: 8\n' },
    'source npx --yes --package @yarnpkg/cli-dist@4 -- yarn install --immutable node-modules',
  ],
])('a package of a workspace of %s is installed from its root, and not again', async (_, root, call) => {
  const { build, folder } = source({ ...root, ...agent })
  expect(await build('apps/agent/langgraph.json')).toEqual([call])
  expect(await workspaceOf(join(folder, 'apps/agent'))).toBe(folder)
})

test('the machine’s Yarn is used where it is of the kind of the lock file', async () => {
  const files = {
    'package.json': { dependencies: { a: '1' } },
    'yarn.lock': '__metadata:\n',
    'langgraph.json': {},
  }
  expect(await source(files, { yarn: '4.9.1' }).build('langgraph.json')).toEqual([
    'source yarn install --immutable node-modules',
  ])
})

test('a folder that the workspace leaves out has an install of its own', async () => {
  const root: Files = { 'package.json': { workspaces: ['apps/*', '!apps/agent'] }, 'package-lock.json': {} }
  const { build, folder } = source({ ...root, ...agent })
  expect(await build('apps/agent/langgraph.json')).toEqual([
    'source npm ci node-modules',
    'agent npm install node-modules',
  ])
  expect(await workspaceOf(join(folder, 'apps/agent'))).toBeUndefined()
})
