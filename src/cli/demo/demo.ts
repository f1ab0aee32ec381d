import { AgentwireError } from '../../core/errors.ts'
import { parseCommandLine, portOf } from '../options.ts'
import { explain } from '../report.ts'
import { type ExitCode, openPage, type Terminal, UsageError, untilStopped } from '../terminal.ts'
import { startDemo } from './server.ts'

const DEMO_USAGE = `agentwire demo  serves a chat with two agents, with every protocol on one port

The model is scripted and needs no network. OPENAI_API_KEY or ANTHROPIC_API_KEY in the environment choose a model of that
provider; OPENAI_MODEL, ANTHROPIC_MODEL, OPENAI_BASE_URL and ANTHROPIC_BASE_URL change it.

  --port PORT     0 picks a free port; default: the environment variable PORT, or 3000
  --storage URL   file:… or a path (SQLite), postgres://…, redis://…; default: the environment variable STORAGE_URL, or the
                  memory of this process
  --no-open       does not open the browser
  --help          shows this text

It listens on 127.0.0.1 only. Ctrl-C stops it.`

export async function demoCommand(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { env, out, problem } = terminal
  const { values, positionals } = parseCommandLine(args, {
    port: { type: 'string' },
    storage: { type: 'string' },
    'no-open': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) {
    out(DEMO_USAGE)
    return 0
  }
  if (positionals.length > 0) throw new UsageError('agentwire demo takes options only.')
  const port = portOf(values.port ?? (env.PORT || '3000'), values.port === undefined ? 'PORT' : '--port')
  try {
    const stopped = untilStopped()
    const demo = await startDemo({ port, storage: values.storage ?? (env.STORAGE_URL || 'memory:'), env })
    out(demo.banner)
    if (!values['no-open']) openPage(demo.origin, terminal)
    await stopped
    await demo.close()
    return 0
  } catch (error) {
    if (!(error instanceof AgentwireError)) throw error
    problem(explain(error))
    return 1
  }
}
