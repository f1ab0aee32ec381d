import { type Program, startProgram } from '../../kit/program.ts'

/** Runs a command of a user to its end. */
export async function runIn(
  cwd: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const program = startProgram(command, args, { ...CLEAN, ...env }, cwd)
  const code = await program.exit
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${program.text()}`)
  return program.text()
}

/** Starts a server with what it starts in turn, such as that of `npm run dev`. `stop` ends all of them, and waits for it. */
export function serveIn(
  cwd: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Program & { stop(signal?: NodeJS.Signals): Promise<void> } {
  // A process group of its own.
  const program = startProgram(command, args, { ...CLEAN, ...env }, cwd, true)
  return {
    ...program,
    async stop(signal = 'SIGTERM') {
      try {
        process.kill(-program.child.pid!, signal)
      } catch {
        // It has ended.
      }
      await program.exit
    },
  }
}

/** The environment without what projects read, and what vitest and npm set. */
const CLEAN: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) =>
      !/^(?:npm_|NODE_|VITE|TEST$|PORT$|HOST$|STORAGE_URL$|AGENT_USERS$|(?:OPENAI|ANTHROPIC|GEMINI)_)/i.test(
        name,
      ),
  ),
)
