import { nearest } from '../core/nearest.ts'
import { VERSION } from '../core/version.ts'
import { Canceled, type ExitCode, type Terminal, UsageError } from './terminal.ts'

type Command = (args: readonly string[], terminal: Terminal) => Promise<ExitCode>

/** Each command is loaded when it is called, because a server is much larger than a report. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  create: async () => (await import('./create/create.ts')).createCommand,
  demo: async () => (await import('./demo/demo.ts')).demoCommand,
  doctor: async () => (await import('./doctor/doctor.ts')).doctorCommand,
  storage: async () => (await import('./storage.ts')).storageCommand,
  dev: async () => (await import('./serve/serve.ts')).devCommand,
  serve: async () => (await import('./serve/serve.ts')).serveCommand,
  deploy: async () => (await import('./deploy/deploy.ts')).deployCommand,
  list: async () => (await import('./deploy/manage.ts')).listCommand,
  logs: async () => (await import('./deploy/manage.ts')).logsCommand,
  rollback: async () => (await import('./deploy/manage.ts')).rollbackCommand,
  delete: async () => (await import('./deploy/manage.ts')).deleteCommand,
  'control-plane': async () => (await import('./control-plane/control-plane.ts')).controlPlaneCommand,
}

const USAGE = `agentwire serves AI agents from the server you already have.

Usage: agentwire COMMAND [OPTIONS]

New project
  demo             serves a chat with two agents, to look at: needs no key
  create           creates a project with a server, an agent and a chat page

Help
  doctor           checks packages, databases, ports and a running server, and says what to do

Agents of a langgraph.json
  dev              serves them, reloads them after each change and opens the devtools
  serve            serves them

Deployments on a control plane
  deploy           deploys this project, and shows the progress
  list [NAME]      lists the deployments, or the revisions of one
  logs NAME        prints the log of a deployment
  rollback NAME    serves an earlier revision of a deployment again
  delete NAME      deletes a deployment
  control-plane    serves the deployments API, and builds and runs deployments

Database
  storage check    checks that the database is reachable, migrated and durable, and shows what it stores
  storage migrate  creates the tables, or migrates them to this version of agentwire
  storage stats    shows what the database stores

  --help           shows this text; after a command, its options
  --version        prints the version of agentwire`

/** Runs one command line, without the program's name. Without arguments, it shows the usage. */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const [name = '--help', ...rest] = args
  // “help deploy” is “deploy --help”.
  if (name === 'help') return run([...rest.slice(0, 1), '--help'], terminal)
  const command = Object.hasOwn(COMMANDS, name) ? await COMMANDS[name]!() : undefined
  try {
    if (command) return await command(rest, terminal)
    if (name === '--help' || name === '-h') terminal.out(USAGE)
    else if (name === '--version' || name === '-v') terminal.out(VERSION)
    else throw new UsageError(unknown(name))
    return 0
  } catch (error) {
    if (error instanceof Canceled) {
      terminal.problem('\nCanceled. Nothing was changed.')
      return 130
    }
    if (!(error instanceof UsageError)) throw error
    const help = command
      ? `Run “agentwire ${name} --help” for its options.`
      : 'Run “agentwire --help” for all commands.'
    terminal.problem(`${error.message}\n${help}`)
    return 2
  }
}

function unknown(name: string): string {
  const meant = nearest(name, Object.keys(COMMANDS))
  return `Unknown ${name.startsWith('-') ? 'option' : 'command'} “${name}”.${meant ? ` Did you mean “${meant}”?` : ''}`
}
