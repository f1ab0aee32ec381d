import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { typed, untyped } from '../docs/compile.ts'
import { root } from './package.ts'

const SNIPPETS = join(root, 'docs/snippets')
const snippets = readdirSync(SNIPPETS, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => join(SNIPPETS, path))

test('every example of the guides has the types it needs, from the built package', {
  timeout: 300_000,
}, () => {
  const unmarked = ['README.md', 'docs/engine.md', 'docs/a2a.md'].flatMap((path) => [
    ...readFileSync(join(root, path), 'utf8').matchAll(/^(?<!<!-- snippet: \S+ -->\n)```ts$/gm),
  ])
  expect(unmarked).toEqual([])
  expect(snippets.length).toBeGreaterThan(20)
  const withTypes = typed.map((path) => join(root, path))
  expect(problems([...snippets.filter((path) => !withTypes.includes(path)), untyped])).toEqual([])
  expect(problems(withTypes)).toEqual([])
})

test('every link of the README names a file that is in the package', () => {
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  const packed = new Set(files.map(({ path }) => path))
  for (const page of ['README.md', ...[...packed].filter((path) => /^docs\/[^/]+\.md$/.test(path))]) {
    const text = readFileSync(join(root, page), 'utf8').replace(/^```.*?^```/gms, '')
    // npm shows pictures from the repository.
    const links = text.replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    const targets = [...links.matchAll(/\]\((?!\w+:)([^)\s#]+)(?:#[^)\s]+)?\)/g)].map(([, target]) =>
      posix.join(posix.dirname(page), target!),
    )
    if (page === 'README.md') expect(targets.length).toBeGreaterThan(20)
    // The examples are in the repository alone. The README's links must work in the package too.
    const missing = targets.filter((target) => !packed.has(target))
    const broken = missing.filter((target) => page === 'README.md' || !target.startsWith('examples/'))
    expect([page, broken]).toEqual([page, []])
  }
})

/** The errors of the compiler. */
function problems(paths: readonly string[]): string[] {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
  delete options.paths // which names the sources
  const program = ts.createProgram([...paths], options)
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => file === undefined || paths.includes(file.fileName))
    .map(
      ({ file, messageText }) =>
        `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    )
}
