/**
 * Mutation tests: changes operators, conditions and calls one at a time, and tells which changes no test notices.
 *
 *   node test/mutation/run.mjs                          the lines changed since HEAD, with untracked files
 *   node test/mutation/run.mjs --base main              the lines changed since main
 *   node test/mutation/run.mjs src/engine/log           a folder or a file
 *   node test/mutation/run.mjs src/engine --sample 400    declarations of it, drawn at random, of about 400 lines
 *   node test/mutation/run.mjs src/core/http test/http  with these tests only
 *   node test/mutation/run.mjs src/storage/redis --servers   with the tests that need Redis or Postgres, which take long
 *
 * Without named tests, those of the folder of `test` run that has the name of the folder of `src`. `--seed N` draws a sample again.
 * `--json FILE` writes Stryker's report. StrykerJS comes from the npm registry into a temporary folder, where it works on a copy.
 * Exits with 1 when less than 85 % of the mutants are noticed.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { copySources, install, ROOT, run } from '../kit/install.mjs'

/** The last major that runs on Node 20. */
const STRYKER = '^9.6.0'
const ENOUGH = 85
/** Texts are read by people, and most objects are options that a test of the call checks as a whole. */
const NOT_MUTATED = ['StringLiteral', 'ObjectLiteral']

/** Tests are below the name of a part, without that of its group: `src/faces/a2a` has `test/a2a`. These have another name. */
const TESTS = new Map([
  ['engine', 'runs'],
  ['kit', 'face'],
  ['rest', 'platform'],
])
const GROUPS = ['core', 'models', 'faces', 'clients', 'ops']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    base: { type: 'string', default: 'HEAD' },
    sample: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    json: { type: 'string' },
    servers: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
  },
})
const sources = positionals.filter((one) => /^(src|adapters)\b/.test(one))
const named = positionals.filter((one) => one.startsWith('test/'))

const ranges = sources.length > 0 ? inFolders(sources) : changedLines(values.base)
if (ranges.length === 0) {
  console.log('Nothing to mutate: no line of src or adapters has changed.')
  process.exit(0)
}
const tests = named.length > 0 ? named : nearestTests(ranges)
console.log(`mutating ${ranges.length} places, with ${tests.join(' ')}`)

const folder = mkdtempSync(join(tmpdir(), 'agentwire-mutation-'))
process.exitCode = 1
try {
  const packages = { '@stryker-mutator/core': STRYKER, '@stryker-mutator/vitest-runner': STRYKER }
  if (!install(folder, packages)) throw new Error('npm could not install StrykerJS.')
  copySources(folder)
  const settings = {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    mutate: ranges,
    mutator: { excludedMutations: NOT_MUTATED },
    // The copy is all its own.
    inPlace: true,
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    concurrency: Number(values.workers),
    timeoutMS: 10_000,
    dryRunTimeoutMinutes: 30,
    reporters: ['progress-append-only', 'clear-text', 'json'],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    jsonReporter: { fileName: 'report.json' },
    disableTypeChecks: false,
    allowConsoleColors: false,
  }
  writeFileSync(join(folder, 'stryker.config.json'), JSON.stringify(settings))
  const stryker = join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js')
  const code = run(process.execPath, [stryker, 'run'], folder, {
    ...process.env,
    MUTATION_TESTS: tests.join(),
    ...(!values.servers && { STORAGES: 'local', ADAPTERS: 'one' }),
  })
  const report = join(folder, 'report.json')
  if (code !== 0 || !existsSync(report)) throw new Error('StrykerJS has failed.')
  if (values.json) copyFileSync(report, values.json)
  process.exitCode = summary(JSON.parse(readFileSync(report, 'utf8')))
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}

/**
 * Prints the share that was noticed, and gives the code to exit with.
 *
 * @param {{ files: Record<string, { mutants: { status: string }[] }> }} report
 */
function summary(report) {
  /** @type {Record<string, number>} */
  const counts = {}
  for (const { mutants } of Object.values(report.files))
    for (const { status } of mutants) counts[status] = (counts[status] ?? 0) + 1
  const noticed = (counts.Killed ?? 0) + (counts.Timeout ?? 0)
  const all = noticed + (counts.Survived ?? 0) + (counts.NoCoverage ?? 0)
  const share = all === 0 ? 100 : (100 * noticed) / all
  console.log(`${JSON.stringify(counts)}\n${noticed} of ${all} mutants were noticed: ${share.toFixed(1)} %`)
  return share < ENOUGH ? 1 : 0
}

/**
 * Whole files, or a sample of their declarations.
 *
 * @param {readonly string[]} folders
 */
function inFolders(folders) {
  const files = git('ls-files', ...folders, '--cached', '--others', '--exclude-standard').filter(isSource)
  if (!values.sample) return files
  const all = files.flatMap(declarations)
  const wanted = Number(values.sample)
  /** @type {string[]} */
  const drawn = []
  console.log(`sample of ${wanted} lines, seed ${values.seed}`)
  for (let lines = 0, state = Number(values.seed); lines < wanted && all.length > 0; ) {
    // The numbers of a linear congruential generator: a seed gives the same sample on every machine.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const one = /** @type {typeof all[number]} */ (all.splice(state % all.length, 1)[0])
    lines += one.to - one.from + 1
    drawn.push(`${one.file}:${one.from}-${one.to}`)
  }
  return drawn
}

/**
 * The functions, classes and constants at the top of a file.
 *
 * @param {string} file
 */
function declarations(file) {
  const tree = ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest)
  /** @param {number} position */
  const line = (position) => tree.getLineAndCharacterOfPosition(position).line + 1
  return tree.statements
    .filter(
      (one) => ts.isFunctionDeclaration(one) || ts.isClassDeclaration(one) || ts.isVariableStatement(one),
    )
    .map((one) => ({ file, from: line(one.getStart(tree)), to: line(one.end) }))
}

/**
 * The lines that a diff adds or changes, and the whole of files that git does not know.
 *
 * @param {string} base
 */
function changedLines(base) {
  const changed = git('diff', '-U0', '--no-color', base, '--', 'src', 'adapters')
  const found = git('ls-files', '--others', '--exclude-standard', 'src', 'adapters').filter(isSource)
  let file = ''
  for (const line of changed) {
    if (line.startsWith('+++ ')) file = line.slice('+++ b/'.length)
    const hunk = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (!hunk || !isSource(file)) continue
    const [from, count] = [Number(hunk[1]), Number(hunk[2] ?? 1)]
    if (count > 0) found.push(`${file}:${from}-${from + count - 1}`)
  }
  return found
}

/**
 * `src/engine/log/frame.ts` has its tests below `test/runs`.
 *
 * @param {readonly string[]} places
 */
function nearestTests(places) {
  const names = places.map((one) => {
    const [group = '', part = group] = one.replace(/^src\//, '').split('/')
    return GROUPS.includes(group) ? part : group
  })
  return [...new Set(names)]
    .map((name) => TESTS.get(name) ?? name)
    .map((name) => (name.includes('.ts') ? `test/${name.replace(/\.ts.*/, '.test.ts')}` : `test/${name}`))
    .filter((path) => existsSync(join(ROOT, path)))
}

/** @param {string} path */
function isSource(path) {
  return /\.tsx?$/.test(path) && !path.endsWith('.d.ts')
}

/** @param {readonly string[]} args */
function git(...args) {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 28 })
    .split('\n')
    .filter((one) => one !== '')
}
