import { execFileSync } from 'node:child_process'
import {
  access,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  DeployError,
  type DeployRequest,
  type PhaseContext,
} from '../../../src/control-plane/deployers/deployer.ts'
import { dirsOf, removeFolder } from '../../../src/control-plane/deployers/process/dirs.ts'
import { readAllowed } from '../../../src/control-plane/deployers/process/source/git.ts'
import {
  DEFAULT_LIMITS,
  fetchSource,
  refuseSource,
  type SourceOptions,
} from '../../../src/control-plane/deployers/process/source/source.ts'
import { deployRequest, phaseContext } from './context.ts'

let root: string
let repos: string
let options: SourceOptions
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'agentwire-source-')))
  repos = join(root, 'repos')
  await mkdir(repos)
  options = {
    dirs: dirsOf(join(root, 'data')),
    allowed: readAllowed([`file://${repos}`]),
    gitConfig: {},
    limits: DEFAULT_LIMITS,
  }
})
afterEach(() => removeFolder(root))

async function files(folder: string, contents: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

const git = (cwd: string, ...args: string[]): string =>
  execFileSync(
    'git',
    ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'init.defaultBranch=main', ...args],
    { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  ).trim()

/** A work tree and the bare repository that it is pushed to. */
async function repository(contents: Readonly<Record<string, string>>) {
  const work = join(root, 'work')
  await mkdir(work)
  git(work, 'init', '--quiet')
  const bare = join(repos, 'agent.git')
  git(root, 'init', '--quiet', '--bare', bare)
  const commit = async (changed: Readonly<Record<string, string>>): Promise<string> => {
    await files(work, changed)
    git(work, 'add', '--all')
    git(work, 'commit', '--quiet', '--message', 'change')
    git(work, 'push', '--quiet', bare, 'HEAD:refs/heads/main')
    return git(work, 'rev-parse', 'HEAD')
  }
  const first = await commit(contents)
  return {
    work,
    bare,
    url: `file://${bare}`,
    commit,
    first,
    push: (...refs: string[]) => git(work, 'push', '--quiet', bare, ...refs),
  }
}

const ofGit = (
  repo_url: string,
  repo_ref = 'main',
  langgraph_config_path = 'langgraph.json',
): DeployRequest =>
  deployRequest({ sourceConfig: { repo_url }, sourceRevisionConfig: { repo_ref, langgraph_config_path } })

async function fetched(request: DeployRequest, more: Partial<PhaseContext> = {}) {
  const { context, lines } = phaseContext(request, more)
  return { ...(await fetchSource(context, options)), lines }
}

/** It fails with this message, and leaves nothing of the revision. */
async function fails(
  request: DeployRequest,
  message: string | RegExp,
  more: Partial<PhaseContext> = {},
): Promise<void> {
  const { context } = phaseContext(request, more)
  const failure = await fetchSource(context, options).then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(DeployError)
  if (typeof message === 'string') expect((failure as Error).message).toBe(message)
  else expect((failure as Error).message).toMatch(message)
  await expect(access(options.dirs.source(context.deploymentId, context.revisionId))).rejects.toThrow(
    'ENOENT',
  )
}

const graph = { 'langgraph.json': '{}', 'graph.ts': 'one' }

describe('a git repository', () => {
  test('is checked out at a branch, with the id of its commit and without .git', async () => {
    const { url, first, commit } = await repository({ ...graph, 'src/deep/file.txt': 'deep' })
    const one = await fetched(ofGit(url))
    expect(one).toMatchObject({ commit: first, configPath: 'langgraph.json' })
    expect((await readdir(one.folder)).sort()).toEqual(['graph.ts', 'langgraph.json', 'src'])
    expect(await readFile(join(one.folder, 'src/deep/file.txt'), 'utf8')).toBe('deep')
    expect(one.lines).toEqual([`Fetching main of ${url}`, `At commit ${first}`])

    const second = await commit({ 'graph.ts': 'two' })
    const two = await fetched(ofGit(url), { revisionId: 'revision-2' })
    expect(two.commit).toBe(second)
    expect(await readFile(join(two.folder, 'graph.ts'), 'utf8')).toBe('two')
    expect(await readFile(join(one.folder, 'graph.ts'), 'utf8')).toBe('one')
  })

  test('is checked out at a tag, light or annotated, at a whole name and at a commit', async () => {
    const { url, work, first, commit, push } = await repository(graph)
    git(work, 'tag', 'light')
    git(work, 'tag', '--annotate', 'v1.0.0', '--message', 'first')
    const second = await commit({ 'graph.ts': 'two' })
    push('light', 'v1.0.0', 'HEAD:refs/heads/deep/branch', `${first}:refs/pull/1/head`)
    for (const ref of ['light', 'v1.0.0', 'refs/tags/v1.0.0', 'refs/tags/light', 'refs/pull/1/head', first])
      expect([ref, (await fetched(ofGit(url, ref))).commit]).toEqual([ref, first])
    for (const ref of ['deep/branch', 'refs/heads/deep/branch', second])
      expect([ref, (await fetched(ofGit(url, ref))).commit]).toEqual([ref, second])
  })

  test('a branch comes before a tag of the same name', async () => {
    const { url, work, commit, push, first } = await repository(graph)
    git(work, 'tag', 'same')
    const second = await commit({ 'graph.ts': 'two' })
    push('refs/tags/same', 'HEAD:refs/heads/same')
    expect((await fetched(ofGit(url, 'same'))).commit).toBe(second)
    expect((await fetched(ofGit(url, 'refs/tags/same'))).commit).toBe(first)
  })

  test('a work tree is cloned: what is not committed is not deployed', async () => {
    const { work, first } = await repository(graph)
    await files(work, { 'uncommitted.txt': '' })
    options = { ...options, allowed: readAllowed([`file://${work}`]) }
    const { folder, commit } = await fetched(ofGit(`file://${work}`))
    expect([commit, (await readdir(folder)).sort()]).toEqual([first, ['graph.ts', 'langgraph.json']])
  })

  test('what an earlier attempt left is replaced', async () => {
    const { url } = await repository(graph)
    await files(options.dirs.source('deployment-1', 'revision-1'), {
      'left/over.txt': '',
      '.git/config': 'broken',
    })
    expect((await readdir((await fetched(ofGit(url))).folder)).sort()).toEqual(['graph.ts', 'langgraph.json'])
  })

  test('a name that it does not have, a place without one, and an object that is no commit are told', async () => {
    const { url, work, push } = await repository(graph)
    const none = (ref: string) => `The repository ${url} has no branch, tag or commit ${JSON.stringify(ref)}.`
    const noCommit = `${'0'.repeat(39)}1`
    await fails(ofGit(url, 'gone'), none('gone'))
    await fails(ofGit(url, 'refs/tags/gone'), none('refs/tags/gone'))
    await fails(ofGit(url, noCommit), none(noCommit))
    await fails(
      ofGit(`file://${repos}/nothing`),
      `No repository or folder exists at file://${repos}/nothing.`,
    )
    push(`${git(work, 'rev-parse', 'HEAD^{tree}')}:refs/tags/tree`)
    await fails(ofGit(url, 'refs/tags/tree'), 'git could not read the fetched commit: see the build log.')
  })

  test('a broken repository fails with the words of git in the log', async () => {
    const { url, bare, work } = await repository(graph)
    const tree = git(work, 'rev-parse', 'HEAD^{tree}')
    await rm(join(bare, 'objects', tree.slice(0, 2), tree.slice(2)))
    const request = ofGit(url)
    const { context, lines } = phaseContext(request)
    await expect(fetchSource(context, options)).rejects.toThrow(
      `git could not fetch "main" of ${url}: see the build log.`,
    )
    expect(lines.slice(1).join('\n')).toMatch(/fatal|error/)
  })

  test('its hooks, the configuration of the machine and its submodules are left alone', async () => {
    const { url, work, push } = await repository(graph)
    const ran = join(root, 'ran')
    const home = join(root, 'home')
    await files(home, {
      '.gitconfig': `[core]\n\thooksPath = ${join(root, 'hooks')}\n\tfsmonitor = touch ${ran}\n[url "file:///nowhere/"]\n\tinsteadOf = file://\n[init]\n\ttemplateDir = ${join(root, 'template')}\n`,
    })
    for (const folder of ['hooks', 'template/hooks'])
      for (const hook of ['post-checkout', 'reference-transaction', 'post-merge']) {
        await files(root, { [`${folder}/${hook}`]: `#!/bin/sh\ntouch ${ran}\n` })
        execFileSync('chmod', ['+x', join(root, folder, hook)])
      }
    await files(work, { '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ext::touch ${ran}\n` })
    git(work, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},x`)
    git(work, 'add', '.gitmodules')
    git(work, 'commit', '--quiet', '--message', 'submodule')
    push('HEAD:refs/heads/main')
    const before = { HOME: process.env.HOME, GIT_CONFIG_GLOBAL: process.env.GIT_CONFIG_GLOBAL }
    Object.assign(process.env, { HOME: home, GIT_CONFIG_GLOBAL: join(home, '.gitconfig') })
    try {
      const { folder } = await fetched(ofGit(url))
      expect(await readdir(join(folder, 'x'))).toEqual([])
    } finally {
      for (const [name, value] of Object.entries(before))
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
    }
    await expect(access(ran)).rejects.toThrow('ENOENT')
  })

  test('links in it may lead to its own files only', async () => {
    const { url, work, push } = await repository(graph)
    const push1 = async (path: string, target: string) => {
      await symlink(target, join(work, path))
      git(work, 'add', '--all')
      git(work, 'commit', '--quiet', '--message', 'link')
      push('HEAD:refs/heads/main')
    }
    await push1('inside.json', './langgraph.json')
    expect(
      await readFile(join((await fetched(ofGit(url, 'main', 'inside.json'))).folder, 'inside.json'), 'utf8'),
    ).toBe('{}')
    await push1('outside', '/etc/passwd')
    await fails(ofGit(url), 'The link "outside" leads outside the source.')
  })

  test('one with too many files or too large is refused', async () => {
    const { url } = await repository({ ...graph, 'large.txt': 'x'.repeat(5000) })
    options = { ...options, limits: { maxBytes: 4000, maxEntries: 100 } }
    await fails(ofGit(url), 'The unpacked source is larger than 0 MB.')
    options = { ...options, limits: { maxBytes: 1e6, maxEntries: 2 } }
    await fails(ofGit(url), 'The source contains more than 2 files and folders.')
  })

  test('a few objects that name billions of files are refused before one of them is written', async () => {
    const { url, work, push } = await repository(graph)
    let object = `100644 blob ${git(work, 'rev-parse', 'HEAD:graph.ts')}`
    for (let level = 0; level < 10; level++) {
      const tree = Array.from({ length: 10 }, (_, at) => `${object}\tf${at}\n`).join('')
      object = `040000 tree ${execFileSync('git', ['mktree'], { cwd: work, input: tree, encoding: 'utf8' }).trim()}`
    }
    push(`${git(work, 'commit-tree', object.slice(12), '-m', 'many')}:refs/heads/many`)
    await fails(ofGit(url, 'many'), 'The source contains more than 100000 files and folders.')
  })

  test('an abort ends git and leaves nothing', async () => {
    // A host that never answers.
    const server = createServer(() => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    options = { ...options, allowed: readAllowed([origin]) }
    const controller = new AbortController()
    const reason = new Error('A newer revision came.')
    server.once('request', () => controller.abort(reason))
    const request = ofGit(`${origin}/agent.git`)
    const { context } = phaseContext(request, { signal: controller.signal })
    await expect(fetchSource(context, options)).rejects.toBe(reason)
    await expect(access(options.dirs.source('deployment-1', 'revision-1'))).rejects.toThrow('ENOENT')
    server.closeAllConnections()
    server.close()
  })

  test('a redirect to another place is not followed, and settings of the embedder reach the host', async () => {
    const asked: (string | undefined)[] = []
    const server = createServer((request, response) => {
      asked.push(`${request.url} ${request.headers.authorization}`)
      response.writeHead(302, { location: `http://127.0.0.1:1${request.url}` }).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    options = {
      ...options,
      allowed: readAllowed([origin]),
      gitConfig: { [`http.${origin}/.extraHeader`]: 'Authorization: Basic c2VjcmV0' },
    }
    const request = ofGit(`${origin}/agent.git`)
    const { context, lines } = phaseContext(request)
    await expect(fetchSource(context, options)).rejects.toThrow('git could not fetch "main"')
    expect(asked).toEqual(['/agent.git/info/refs?service=git-upload-pack Basic c2VjcmV0'])
    expect(lines.join('\n')).not.toContain('c2VjcmV0')
    expect(lines.join('\n')).toContain('302')
    server.close()
  })
})

describe('a plain folder', () => {
  const url = () => `file://${repos}/plain`

  test('is copied with its modes, its inner links and its node_modules', async () => {
    await files(join(repos, 'plain'), { ...graph, 'bin/run': '#!/bin/sh', 'node_modules/x/index.js': '' })
    execFileSync('chmod', ['755', join(repos, 'plain/bin/run')])
    await mkdir(join(repos, 'plain/node_modules/.bin'))
    await symlink('../x/index.js', join(repos, 'plain/node_modules/.bin/x'))
    const { folder, commit, lines } = await fetched(ofGit(url()))
    expect(commit).toBeUndefined()
    expect((await lstat(join(folder, 'bin/run'))).mode & 0o777).toBe(0o755)
    expect(await realpath(join(folder, 'node_modules/.bin/x'))).toBe(join(folder, 'node_modules/x/index.js'))
    expect(lines).toEqual([`Copying ${url()}`])
  })

  test.each([
    ['an absolute link', '/etc/passwd'],
    ['a link above it', '../../secret'],
    ['a link to its own absolute path', 'SELF'],
  ])('with %s is refused', async (_, target) => {
    await files(join(repos, 'plain'), graph)
    await symlink(target.replace('SELF', join(repos, 'plain/graph.ts')), join(repos, 'plain/link'))
    await fails(ofGit(url()), 'The link "link" leads outside the source.')
  })

  test('with a link that leads out by way of another link is refused', async () => {
    await files(join(repos, 'plain'), { ...graph, 'a/b/c.txt': '' })
    await writeFile(join(root, 'secret'), '')
    await symlink('a/b', join(repos, 'plain/short'))
    // By its name it stays inside; by way of the link it is one folder too high.
    await symlink('short/../../../../../../secret', join(repos, 'plain/out'))
    await fails(ofGit(url()), 'The link "out" leads outside the source.')
  })

  test('with a pipe in it is refused', async () => {
    await files(join(repos, 'plain'), graph)
    execFileSync('mkfifo', [join(repos, 'plain/pipe')])
    await fails(ofGit(url()), '"pipe" of the source is not a file, folder or link.')
  })

  test('behind a link that leads out of the allowed folder is refused', async () => {
    await files(join(root, 'private'), graph)
    await symlink(join(root, 'private'), join(repos, 'linked'))
    await fails(
      ofGit(`file://${repos}/linked`),
      'Invalid repo_url: a symbolic link in its path leads outside the locations this server deploys from.',
    )
  })

  test('that is no folder, or too large, is refused', async () => {
    await files(repos, { 'file.txt': '', 'plain/langgraph.json': 'x'.repeat(100) })
    await fails(
      ofGit(`file://${repos}/file.txt`),
      `No repository or folder exists at file://${repos}/file.txt.`,
    )
    options = { ...options, limits: { maxBytes: 99, maxEntries: 10 } }
    await fails(ofGit(url()), /larger than/)
  })
})

describe('an uploaded archive', () => {
  const ofUpload = (source_tarball_path: string | null): DeployRequest =>
    deployRequest({ source: 'internal_source', sourceRevisionConfig: { source_tarball_path } })
  const packed = async (text: string) =>
    new Blob([
      new Uint8Array(
        gzipSync(
          await packTar([
            { header: { name: 'langgraph.json', size: text.length, type: 'file' }, body: text },
          ]),
        ),
      ),
    ]).stream()

  test('is unpacked, and one that cannot be read fails with the error of the store', async () => {
    const path = 'uploads/deployment-1/one.tar.gz'
    const openUpload = async (asked: string) => (asked === path ? packed('{}') : undefined)
    const { folder } = await fetched(ofUpload(path), { openUpload })
    expect(await readFile(join(folder, 'langgraph.json'), 'utf8')).toBe('{}')
    const away = new Error('The store is away.')
    const broken = async () =>
      new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(away) })
    const { context } = phaseContext(ofUpload(path), { openUpload: broken })
    await expect(fetchSource(context, options)).rejects.toBe(away)
  })

  test('that is not there is told', async () => {
    await fails(ofUpload('gone'), 'The uploaded source no longer exists: upload it again.')
    await fails(ofUpload(null), 'The revision has no source_tarball_path: upload its source first.')
  })
})

describe('the langgraph.json', () => {
  const path = (langgraph_config_path: string | null) =>
    ofGit(`file://${repos}/plain`, 'main', langgraph_config_path as string)

  test('is found in a folder, and is langgraph.json where none is named', async () => {
    await files(join(repos, 'plain'), { ...graph, 'apps/agent/langgraph.json': '{}' })
    expect((await fetched(path('apps/agent/langgraph.json'))).configPath).toBe('apps/agent/langgraph.json')
    expect((await fetched(path('./apps/../apps/agent/langgraph.json'))).configPath).toBe(
      'apps/agent/langgraph.json',
    )
    for (const none of [null, '']) expect((await fetched(path(none))).configPath).toBe('langgraph.json')
  })

  test('that is not there, or is no file, is told', async () => {
    await files(join(repos, 'plain'), { 'apps/x': '' })
    await fails(path('langgraph.json'), 'The source has no file "langgraph.json".')
    await fails(path('apps'), 'The source has no file "apps".')
  })

  test.each(['/etc/passwd', '../langgraph.json', 'a/../../langgraph.json', '..', 'a\0b', 'a\nb', 'a\\..\\b'])(
    'at %j is refused before anything is fetched',
    async (at) => {
      await fails(path(at), /^Invalid langgraph_config_path: /)
      expect(refuseSource(path(at), options.allowed)).toMatch(/^Invalid langgraph_config_path: /)
    },
  )
})

test.each(['external_docker', 'internal_docker', 'internal_template'] as const)(
  'the source %s is refused',
  (source) => {
    expect(refuseSource(deployRequest({ source }), [])).toBe(
      `This server cannot deploy from the source ${source}: use github or internal_source.`,
    )
  },
)

test('ids of deployments and revisions cannot be paths', () => {
  for (const id of ['..', '.', '', 'a/b', '/etc', 'a\0', 'é'])
    expect(() => options.dirs.source(id, 'revision')).toThrow(DeployError)
  for (const id of ['..', '.', '', 'a/b'])
    expect(() => options.dirs.revision('deployment', id)).toThrow(DeployError)
})

test('a folder is removed with its read-only folders, and what its links lead to stays', async () => {
  const outside = join(root, 'outside')
  await files(outside, { 'kept.txt': 'kept' })
  const folder = join(root, 'old')
  await files(folder, { 'locked/a.txt': '' })
  await symlink(outside, join(folder, 'locked/link'))
  execFileSync('chmod', ['-R', 'a-w', join(folder, 'locked')])
  await removeFolder(folder)
  await removeFolder(folder)
  await expect(access(folder)).rejects.toThrow('ENOENT')
  expect(await readFile(join(outside, 'kept.txt'), 'utf8')).toBe('kept')
})
