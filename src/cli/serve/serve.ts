import { basename } from 'node:path'
import { AgentwireError } from '../../core/errors.ts'
import { isLoopback } from '../../core/http/origins.ts'
import { saidOpen } from '../../core/http/security.ts'
import {
  type ExitCode,
  explain,
  openPage,
  parseCommandLine,
  portOf,
  type Terminal,
  UsageError,
  untilStopped,
} from '../terminal.ts'
import { createLog } from './log.ts'
import { MCP_INSTALL, type McpState, mcpState } from './mcp.ts'
import type { Project } from './project.ts'
import { type Serving, type ServingOptions, startServing } from './serving.ts'

export const SERVE_OPTIONS = `  --config FILE   default: langgraph.json
  --port PORT     0 picks a free port; default: the environment variable PORT, or 2024
  --host HOST     the address to listen on; 0.0.0.0 accepts other machines; default: the environment variable HOST, or 127.0.0.1
  --allow-host NAME
                  a host name that a server without authentication answers, besides localhost; may be repeated; default: the
                  environment variable ALLOWED_HOSTS with commas, or none on a loopback address and all on others
  --storage URL   file:… or a path (SQLite), postgres://…, redis://…; default: the environment variable STORAGE_URL, or the
                  memory of this process. Use the variable if the URL has a password
  --watch         reloads the graphs when a file of the project changes; threads are kept
  --show-errors, --hide-errors
                  whether clients see the text of an agent's error, or only an error id; default: the text if NODE_ENV is
                  “development”, or if NODE_ENV is not set and the server listens on a loopback address
  --devtools, --no-devtools
                  whether to serve the devtools at /devtools; default: on a loopback address, unless NODE_ENV is “production”
  --no-a2a        turns A2A off
  --json          prints one line of JSON when the server is listening
  --help          shows this text

Every request is logged. The environment variable LOG_LEVEL sets the lowest level to print, such as “warn”; LOG_JSON=true prints
JSON lines.

On SIGINT or SIGTERM, runs have ten seconds to finish; a second signal ends the process at once.`

const SERVE_USAGE = `agentwire serve  serves the graphs of a langgraph.json: threads, A2A, MCP, /ok and /info

${SERVE_OPTIONS}`

/** Calls `onServing` once it listens. */
export async function serveCommand(
  args: readonly string[],
  terminal: Terminal,
  onServing?: (serving: Serving) => void,
): Promise<ExitCode> {
  const options = parse(args, terminal)
  if (options === undefined) {
    terminal.out(SERVE_USAGE)
    return 0
  }
  try {
    const stopped = untilStopped()
    const serving = await startServing(options)
    terminal.out(options.json ? toJson(serving, options) : toText(serving, options))
    if (!options.json) saidOpen() // If nobody signs in, the text says so.
    tellProblems(serving.project, terminal)
    onServing?.(serving)
    await stopped
    await serving.close()
    return 0
  } catch (error) {
    if (!(error instanceof AgentwireError)) throw error
    terminal.problem(problemOf(error))
    return 1
  }
}

/** Undefined if the command line asks for help. */
function parse(
  args: readonly string[],
  { env, out, problem }: Terminal,
): (ServingOptions & { readonly json: boolean }) | undefined {
  const { values, positionals } = parseCommandLine(args, {
    config: { type: 'string' },
    port: { type: 'string' },
    host: { type: 'string' },
    'allow-host': { type: 'string', multiple: true },
    storage: { type: 'string' },
    watch: { type: 'boolean' },
    'show-errors': { type: 'boolean' },
    'hide-errors': { type: 'boolean' },
    'no-a2a': { type: 'boolean' },
    devtools: { type: 'boolean' },
    'no-devtools': { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) return undefined
  if (positionals.length > 0)
    throw new UsageError(`agentwire serve takes only options; remove “${positionals[0]}”.`)
  if (values['show-errors'] && values['hide-errors'])
    throw new UsageError('--show-errors and --hide-errors cannot be used together.')
  const port = values.port ?? (env.PORT || '2024')
  const hostname = values.host ?? (env.HOST || '127.0.0.1')
  return {
    config: values.config ?? 'langgraph.json',
    port: portOf(port, values.port === undefined ? 'PORT' : '--port'),
    hostname,
    allowedHosts: values['allow-host'] ?? (env.ALLOWED_HOSTS ? env.ALLOWED_HOSTS.split(/[\s,]+/) : undefined),
    storage: values.storage,
    withoutA2A: values['no-a2a'] ?? false,
    devtools:
      values.devtools ?? (!values['no-devtools'] && isLoopback(hostname) && env.NODE_ENV !== 'production'),
    watch: values.watch ?? false,
    showErrors: values['show-errors'] ?? (!values['hide-errors'] && isDevelopment(env, hostname)),
    json: values.json ?? false,
    log: createLog({ level: env.LOG_LEVEL, json: env.LOG_JSON === 'true', out, problem }),
    onReload(outcome) {
      if ('error' in outcome)
        problem(`${problemOf(outcome.error)}\nStill serving the graphs from before the change.`)
      else {
        tellProblems(outcome.project, { problem })
        out(`Reloaded: ${[...outcome.project.agents.keys()].join(', ')}.`)
      }
    },
  }
}

/** Reports what is wrong with a project that is served nevertheless. */
function tellProblems({ warnings, failed }: Project, { problem }: Pick<Terminal, 'problem'>): void {
  for (const text of warnings) problem(`Warning: ${text}`)
  for (const { name, error } of failed)
    problem(`${problemOf(error)}\nThe graph “${name}” is not served in its current version.`)
}

const isDevelopment = ({ NODE_ENV }: Terminal['env'], hostname: string): boolean =>
  NODE_ENV ? NODE_ENV === 'development' : isLoopback(hostname)

function toText({ origin, project, storage }: Serving, options: ServingOptions): string {
  const { withoutA2A, watch, showErrors, devtools } = options
  const { config, agents, auth } = project
  const { http, unsupported, path } = config
  const url = origin + http.mountPrefix
  const hasA2A = !withoutA2A && !http.disabled.has('a2a')
  return [
    `agentwire serves ${basename(path)} on ${url}`,
    `  agents   ${[...agents.keys()].join(', ')}`,
    `  threads  ${http.disabled.has('runs') && http.disabled.has('threads') ? 'off' : `${url}/threads`}`,
    `  A2A      ${hasA2A ? [...agents.keys()].map((name) => `${url}/a2a/${name}`).join(', ') : 'off'}`,
    `  MCP      ${MCP[mcpState(http)](url)}`,
    `  storage  ${storage === 'memory:' ? 'the memory of this process: a restart loses all threads; pass --storage agents.db to keep them' : storage}`,
    `  auth     ${auth?.authenticate ? config.auth?.file : 'none: anyone who can reach this server can read and change every thread'}`,
    `  errors   clients see ${showErrors ? 'the text of an agent’s error' : 'an error id'}`,
    ...(devtools ? [`  devtools ${url}/devtools`] : []),
    ...(watch ? [`  watches  ${config.folder}`] : []),
    ...unsupported.map((text) => `Not supported: ${text}`),
  ].join('\n')
}

const MCP: Readonly<Record<McpState, (url: string) => string>> = {
  on: (url) => `${url}/mcp`,
  off: () => 'off',
  'not installed': () => `off: ${MCP_INSTALL}`,
}

function toJson(
  { origin, port, project, storage }: Serving,
  { hostname, withoutA2A, showErrors, devtools }: ServingOptions,
): string {
  const { config, agents, failed, warnings, auth } = project
  return JSON.stringify({
    url: origin + config.http.mountPrefix,
    host: hostname,
    port,
    pid: process.pid,
    config: config.path,
    agents: [...agents.keys()],
    a2a: !withoutA2A && !config.http.disabled.has('a2a'),
    mcp: mcpState(config.http) === 'on',
    devtools,
    storage,
    auth: auth?.authenticate !== undefined,
    errors: showErrors ? 'text' : 'id',
    failed: failed.map(({ name }) => name),
    warnings,
    unsupported: config.unsupported,
  })
}

/** The error and its causes, and where in the project it was thrown. */
function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  let last = error
  while (last.cause instanceof Error) last = last.cause
  const places = (last.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line) && isOfProject(line))
  return [explain(error), ...(last === error ? [] : places.slice(0, 3))].join('\n')
}

const isOfProject = (line: string): boolean =>
  !/node:|[\\/]node_modules[\\/]/.test(line) && /[\\/]/.test(line)

const DEV_USAGE = `agentwire dev  serves the graphs of a langgraph.json while you work on them

This runs “agentwire serve --watch --devtools --show-errors” with NODE_ENV=development, and opens the devtools in your browser.

  --no-open       does not open the browser
${SERVE_OPTIONS}`

const NO_OPEN = '--no-open'

export async function devCommand(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  if (args.includes('--help') || args.includes('-h')) {
    terminal.out(DEV_USAGE)
    return 0
  }
  // What runs here may ask, too, and the server tells clients the text of errors.
  process.env.NODE_ENV ||= 'development'
  const errors = args.includes('--hide-errors') ? [] : ['--show-errors']
  const given = ['--watch', '--devtools', ...errors, ...args.filter((arg) => arg !== NO_OPEN)]
  return serveCommand(given, terminal, ({ origin, project }) => {
    if (!args.includes(NO_OPEN)) openPage(`${origin}${project.config.http.mountPrefix}/devtools`, terminal)
  })
}
