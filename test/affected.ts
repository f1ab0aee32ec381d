/**
 * Runs the tests of `npm test` that a change can touch:
 *
 *   npm run test:affected                 what differs from HEAD, with files that git does not know
 *   npm run test:affected -- --base main  what differs from main
 *   npm run test:affected -- src/faces/openai/chat/post.ts
 *
 * A test is touched if it imports a changed file, directly or through others. Two rules stand beside the imports: see `PARTS` and `READ`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { groups } from './kit/groups.ts'
import { closureOf } from './kit/imports.ts'

/**
 * Every server loads these parts, so their imports lead to most tests. What talks to a part is in these folders; the others notice a
 * change of it only where its own tests do.
 */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  'src/faces/threads/': ['test/threads/', 'test/conformance/'],
  'src/faces/rest/': ['test/platform/'],
  'src/faces/a2a/': ['test/a2a/', 'test/doors/'],
  'src/control-plane/': ['test/control-plane/'],
  'src/ops/devtools/': ['test/devtools/'],
}

/** What tests read as files. */
const READ: readonly (readonly [read: RegExp, tests: readonly string[]])[] = [
  [/^(?:src|adapters)\//, ['test/walls.test.ts']],
  [/\.md$|^docs\/|^examples\//, ['test/docs.test.ts', 'test/docs/']],
  [/^(?:package\.json|tsconfig.*|.*\.config\.ts)$/, ['test/version.test.ts', 'test/walls.test.ts']],
]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { base: { type: 'string', default: 'HEAD' } },
})
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean)
const changed =
  positionals.length > 0
    ? positionals
    : [
        ...git('diff', '--name-only', '--diff-filter=d', values.base),
        ...git('ls-files', '--others', '--exclude-standard'),
      ]

const partOf = (path: string) => Object.keys(PARTS).find((folder) => path.startsWith(folder))
/** A part is entered from its own files and from tests, but not from those of other parts. The command line uses parts as tests do. */
const follows = (to: string, from: string) =>
  !/^src\/(?!cli\/)/.test(from) || partOf(to) === undefined || partOf(to) === partOf(from)

const { source, alone } = groups()
const touched = [...source, ...alone].filter((test) => {
  const loaded = closureOf(test, follows)
  return changed.some(
    (path) =>
      loaded.has(path) ||
      PARTS[partOf(path) ?? '']?.some((folder) => test.startsWith(folder)) ||
      READ.some(([read, tests]) => read.test(path) && tests.some((one) => test.startsWith(one))),
  )
})

console.log(`${changed.length} files have changed, which ${touched.length} test files can notice.`)
if (touched.length > 0) {
  const args = ['run', '--project', 'source', '--project', 'alone', ...touched]
  process.exitCode = spawnSync('npx', ['vitest', ...args], { stdio: 'inherit' }).status ?? 1
}
