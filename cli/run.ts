import { VERSION } from '../src/version.ts'
import { type ExitCode, type Terminal, UsageError } from './terminal.ts'

interface Command {
  readonly usage: string
  readonly run: (args: readonly string[], terminal: Terminal) => Promise<ExitCode>
}

/** Each command is loaded when it is called, because a server is much larger than a report. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  create: async () => {
    const { CREATE_USAGE, createCommand } = await import('./create/create.ts')
    return { usage: CREATE_USAGE, run: createCommand }
  },
  storage: async () => {
    const { STORAGE_USAGE, storageCommand } = await import('./storage.ts')
    return { usage: STORAGE_USAGE, run: storageCommand }
  },
  dev: async () => {
    const { DEV_USAGE, devCommand } = await import('./serve/dev.ts')
    return { usage: DEV_USAGE, run: devCommand }
  },
  serve: async () => {
    const { SERVE_USAGE, serveCommand } = await import('./serve/serve.ts')
    return { usage: SERVE_USAGE, run: serveCommand }
  },
  deploy: async () => {
    const { DEPLOY_USAGE, deployCommand } = await import('./deploy/deploy.ts')
    return { usage: DEPLOY_USAGE, run: deployCommand }
  },
  list: async () => {
    const { LIST_USAGE, listCommand } = await import('./deploy/manage.ts')
    return { usage: LIST_USAGE, run: listCommand }
  },
  logs: async () => {
    const { LOGS_USAGE, logsCommand } = await import('./deploy/manage.ts')
    return { usage: LOGS_USAGE, run: logsCommand }
  },
  rollback: async () => {
    const { ROLLBACK_USAGE, rollbackCommand } = await import('./deploy/manage.ts')
    return { usage: ROLLBACK_USAGE, run: rollbackCommand }
  },
  delete: async () => {
    const { DELETE_USAGE, deleteCommand } = await import('./deploy/manage.ts')
    return { usage: DELETE_USAGE, run: deleteCommand }
  },
  'control-plane': async () => {
    const { CONTROL_PLANE_USAGE, controlPlaneCommand } = await import('./control-plane/control-plane.ts')
    return { usage: CONTROL_PLANE_USAGE, run: controlPlaneCommand }
  },
}

const USAGE = `agentwire create           creates a new project
agentwire storage check    checks that the database is reachable, migrated and durable, and shows what it stores
agentwire storage migrate  creates the tables, or migrates them to this version of agentwire
agentwire storage stats    shows what the database stores
agentwire dev              serves the graphs of a langgraph.json, reloads them and opens the devtools
agentwire serve            serves the graphs of a langgraph.json
agentwire deploy           deploys this project to a control plane, and shows the progress
agentwire list             lists the deployments of a control plane
agentwire logs             prints the log of a deployment
agentwire rollback         serves an earlier revision of a deployment again
agentwire delete           deletes a deployment
agentwire control-plane    serves the deployments API, and builds and runs deployments

  --help     shows this text; after a command, its options
  --version  prints the version of agentwire`

/** Runs one command line, without the program's name. */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const [name = '', ...rest] = args
  const command = Object.hasOwn(COMMANDS, name) ? await COMMANDS[name]!() : undefined
  try {
    if (command) return await command.run(rest, terminal)
    if (name === '--help' || name === '-h') terminal.out(USAGE)
    else if (name === '--version') terminal.out(VERSION)
    else throw new UsageError(name === '' ? 'Missing command.' : `Unknown command “${name}”.`)
    return 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    terminal.problem(`${error.message}\n\n${command?.usage ?? USAGE}`)
    return 2
  }
}
