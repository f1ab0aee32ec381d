import { STORAGE_USAGE, storageCommand } from './storage.ts'
import { type ExitCode, type Terminal, UsageError } from './terminal.ts'

/** Runs one command line, without the program's name. */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const [command, ...rest] = args
  try {
    if (command === 'storage') return await storageCommand(rest, terminal)
    if (command !== '--help' && command !== '-h') {
      throw new UsageError(command === undefined ? 'Say what to do.' : `There is no command “${command}”.`)
    }
    terminal.out(STORAGE_USAGE)
    return 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    terminal.problem(`${error.message}\n\n${STORAGE_USAGE}`)
    return 2
  }
}
