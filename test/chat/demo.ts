import { afterAll, afterEach, beforeAll } from 'vitest'
import { build } from '../../examples/chat/demo/build.ts'
import { type Program, programs, typescript } from '../kit/program.ts'

export interface Demo extends Program {
  readonly origin: string
}

/** The environment of a demo without keys of providers, whose scripted models are fast. */
const plain = {
  OPENAI_API_KEY: '',
  ANTHROPIC_API_KEY: '',
  GOOGLE_API_KEY: '',
  GEMINI_API_KEY: '',
  STORAGE_URL: '',
  SPEED: '150',
  PORT: '0',
}

/** Builds the app before the tests of a file, and gives what starts programs and demos in them. */
export function demos() {
  const run = programs()
  const stop = new AbortController()
  beforeAll(() => build(console.log, stop.signal), 300_000)
  afterAll(() => stop.abort())

  /** As a terminal starts it: the program, and all that it starts, are one group of processes, which its `pid` names. */
  const groups: number[] = []
  const grouped = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Program => {
    const program = run('setsid', args, { ...process.env, ...plain, ...env })
    groups.push(program.child.pid!)
    return program
  }
  afterEach(() => {
    for (const group of groups.splice(0)) killGroup(group)
  })
  const launch = (env?: Readonly<Record<string, string>>): Program =>
    grouped([process.execPath, ...typescript('examples/chat/demo.ts')], env)
  const launchWithNpm = (): Program => grouped(['npm', 'run', 'demo'])

  async function ready(program: Program): Promise<Demo> {
    const text = await program.output(/Ctrl-C stops the demo/)
    return { ...program, origin: /http:\/\/127\.0\.0\.1:\d+/.exec(text)![0] }
  }
  return { run, launch, launchWithNpm, ready }
}

/** Ends all processes of a group that are left. */
export function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
