import { type ExitCode, openPage, type Terminal } from '../terminal.ts'
import { SERVE_OPTIONS, serveCommand } from './serve.ts'

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
