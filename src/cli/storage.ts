import { AgentwireError } from '../core/errors.ts'
import type { StorageReport } from '../storage/durable.ts'
import { type OpenedStorage, openStorage, withoutPassword } from '../storage/open.ts'
import {
  contentLines,
  type ExitCode,
  explain,
  findingsOf,
  parseCommandLine,
  type Terminal,
  UsageError,
} from './terminal.ts'

const STORAGE_USAGE = `agentwire storage check    checks that the database is reachable, migrated and durable, and shows what it stores
agentwire storage migrate  creates the tables, or migrates them to this version of agentwire
agentwire storage stats    shows what the database stores

  --url URL        file:… or a path (SQLite), postgres://…, redis://…; default: the environment variable STORAGE_URL.
                   Use the variable if the URL has a password
  --prefix PREFIX  the prefix of the table or key names, if you set one
  --json           prints one JSON object
  --help           shows this text

Exit codes: 0 on success, 1 for a problem with the database, 2 for an invalid command line.`

interface Invocation {
  readonly action: string
  readonly url: string
  readonly prefix: string | undefined
  readonly json: boolean
}

/** The result of an action, before it is formatted. */
interface ActionResult {
  readonly report: StorageReport
  /** The schema version before `migrate`. */
  readonly before?: number
}

export async function storageCommand(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const invocation = parse(args, terminal.env)
  if (invocation === undefined) {
    terminal.out(STORAGE_USAGE)
    return 0
  }
  const { url, json } = invocation
  try {
    const result = await runAction(invocation)
    const findings = findingsOf(result.report)
    const ok = !findings.some(({ level }) => level === 'problem')
    terminal.out(
      json ? toJson({ ok, url: withoutPassword(url), ...result.report }) : toText(invocation, result),
    )
    return ok ? 0 : 1
  } catch (error) {
    if (!(error instanceof AgentwireError)) throw error
    const message = explain(error)
    if (json)
      terminal.out(toJson({ ok: false, url: withoutPassword(url), error: { code: error.code, message } }))
    else terminal.problem(`${withoutPassword(url)}: ${message}`)
    return 1
  }
}

function parse(args: readonly string[], env: Terminal['env']): Invocation | undefined {
  const { values, positionals } = parseCommandLine(args, {
    url: { type: 'string' },
    prefix: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) return undefined
  const [action = '', ...more] = positionals
  if (!(action in ACTIONS) || more.length > 0) {
    throw new UsageError(`agentwire storage needs one of ${Object.keys(ACTIONS).join(', ')}.`)
  }
  const url = values.url ?? env.STORAGE_URL ?? ''
  if (url === '')
    throw new UsageError('No storage given: pass --url URL, or set STORAGE_URL in the environment.')
  return { action, url, prefix: values.prefix, json: values.json ?? false }
}

const ACTIONS: Readonly<Record<string, (storage: OpenedStorage) => Promise<ActionResult>>> = {
  check: async (storage) => ({ report: await storage.report() }),
  stats: async (storage) => ({ report: await storage.report() }),
  async migrate(storage) {
    const { schema } = await storage.report()
    await storage.setup()
    return { report: await storage.report(), before: schema.version }
  },
}

async function runAction({ action, url, prefix }: Invocation): Promise<ActionResult> {
  const storage = await openStorage(url, { prefix }).catch((error: unknown) => {
    if (error instanceof AgentwireError && error.code === 'invalid_argument')
      throw new UsageError(error.message)
    throw error
  })
  try {
    return await ACTIONS[action]!(storage)
  } finally {
    await storage.close()
  }
}

function toText({ action, url }: Invocation, { report, before }: ActionResult): string {
  const where = `${withoutPassword(url)} (${report.name})`
  const findings = findingsOf(report)
  const shown = action === 'check' ? findings : findings.filter(({ level }) => level !== 'ok')
  const lines = shown.map(({ level, text }) => `  ${level.padEnd(8)} ${text}`)
  if (before !== undefined) {
    const { version } = report.schema
    lines.unshift(
      before === version
        ? `  Nothing to do: already at version ${version}, the newest.`
        : `  Migrated from version ${before} to version ${version}.`,
    )
  }
  return [
    where,
    ...lines,
    ...(action === 'migrate' ? [] : contentLines(report).map((line) => `  ${line}`)),
  ].join('\n')
}

const toJson = (value: object): string => JSON.stringify(value, undefined, 2)
