import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type ExitCode, parseCommandLine, type Terminal, UsageError } from '../terminal.ts'
import {
  ABOUT,
  CHOICES,
  type Choice,
  type Choices,
  exampleReader,
  install,
  KEYS,
  type Manager,
  managerOf,
} from './choices.ts'
import { type ProjectFiles, projectOf } from './project.ts'

const CREATE_USAGE = `agentwire create [DIR]  creates a new project with a server, an agent and a test; default: my-agents

  --framework NAME        hono, express, fastify, next or node
  --storage NAME          sqlite, memory, postgres or redis
  --model NAME            scripted (offline), openai, anthropic or google
  --auth, --no-auth       with or without sign-in
  --page, --no-page       with or without a chat page
  --no-install            does not install the packages
  --yes                   does not ask; defaults: hono, sqlite, scripted, --no-auth, --page
  --help                  shows this text

On a terminal, it asks for the options you do not pass. The packages are installed with npm, or with the pnpm, yarn or bun that
runs this command.`

export async function createCommand(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { values, positionals } = parseCommandLine(args, {
    framework: { type: 'string' },
    storage: { type: 'string' },
    model: { type: 'string' },
    auth: { type: 'boolean' },
    'no-auth': { type: 'boolean' },
    page: { type: 'boolean' },
    'no-page': { type: 'boolean' },
    'no-install': { type: 'boolean' },
    yes: { type: 'boolean', short: 'y' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) {
    terminal.out(CREATE_USAGE)
    return 0
  }
  const [given, ...more] = positionals
  if (more.length > 0) throw new UsageError(`agentwire create takes one folder; remove “${more[0]}”.`)
  if (given !== undefined && isTaken(given)) throw new UsageError(taken(given))
  const options = givenOf(values)
  const ask = values.yes || terminal.ask === undefined ? undefined : askOnTerminal(terminal.ask, terminal.out)
  const dir = given ?? (await chooseFolder(ask, terminal))
  const choices = await choose(options, ask)
  const folder = resolve(dir)
  const manager = managerOf(terminal)
  write(folder, projectOf({ name: nameOf(folder), manager }, choices, exampleReader()))
  terminal.out(`\nCreated ${dir}: ${describe(choices)}.`)
  const installed = values['no-install'] ? undefined : await install(folder, manager, terminal)
  terminal.out(nextSteps(dir, choices, { manager, installed: installed ?? false }))
  return installed === false ? 1 : 0
}

async function chooseFolder(ask: Ask | undefined, { out }: Terminal): Promise<string> {
  for (;;) {
    const dir = (await ask?.text('Which folder?', DEFAULT_FOLDER)) ?? DEFAULT_FOLDER
    if (!isTaken(dir)) return dir
    if (ask === undefined) throw new UsageError(taken(dir))
    out(taken(dir))
  }
}

const DEFAULT_FOLDER = 'my-agents'

/** Whether there is anything in a folder, except for a repository without files. */
function isTaken(dir: string): boolean {
  const stats = statSync(dir, { throwIfNoEntry: false })
  return stats !== undefined && (!stats.isDirectory() || readdirSync(dir).some((name) => name !== '.git'))
}

const taken = (dir: string): string => `${dir} is not an empty folder: choose a new one.`

type GivenChoices = { -readonly [Name in keyof Choices]?: Choices[Name] | undefined }

interface Values extends Readonly<Record<Choice, string>> {
  readonly auth: boolean
  readonly 'no-auth': boolean
  readonly page: boolean
  readonly 'no-page': boolean
}

function givenOf(values: Partial<Values>): GivenChoices {
  return {
    framework: oneOf('framework', values.framework),
    storage: oneOf('storage', values.storage),
    model: oneOf('model', values.model),
    auth: yesOrNo('auth', values.auth, values['no-auth']),
    page: yesOrNo('page', values.page, values['no-page']),
  }
}

function oneOf<Name extends Choice>(name: Name, value: string | undefined): Choices[Name] | undefined {
  const found = CHOICES[name].find((one) => one === value)
  if (found === undefined && value !== undefined)
    throw new UsageError(`--${name} must be one of ${CHOICES[name].join(', ')}, not “${value}”.`)
  return found as Choices[Name] | undefined
}

function yesOrNo(name: string, yes: boolean | undefined, no: boolean | undefined): boolean | undefined {
  if (yes && no) throw new UsageError(`--${name} and --no-${name} cannot be used together.`)
  return yes ? true : no ? false : undefined
}

/** Asks for choices that were not given, or uses the defaults. */
async function choose(given: GivenChoices, ask: Ask | undefined): Promise<Choices> {
  const one = async <Name extends Choice>(name: Name, question: string): Promise<Choices[Name]> =>
    (given[name] ?? (await ask?.one(question, ABOUT[name])) ?? CHOICES[name][0]) as Choices[Name]
  return {
    framework: await one('framework', 'Which framework?'),
    storage: await one('storage', 'Where should threads be stored?'),
    model: await one('model', 'Which model?'),
    auth: given.auth ?? (await ask?.yes('Should users sign in?', false)) ?? false,
    page: given.page ?? (await ask?.yes('Should it have a chat page?', true)) ?? true,
  }
}

function write(folder: string, files: ProjectFiles): void {
  for (const [path, text] of files) {
    const place = join(folder, path)
    mkdirSync(dirname(place), { recursive: true })
    // Passwords and keys are for nobody else on this machine.
    writeFileSync(place, text, path === '.env' ? { mode: 0o600 } : {})
  }
}

/** A valid npm package name. */
const nameOf = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '') || 'my-agents'

const describe = ({ framework, storage, model, auth, page }: Choices): string =>
  [framework, storage, model, auth ? 'sign-in' : 'no sign-in', page ? 'a page' : 'no page'].join(', ')

interface Installing {
  readonly manager: Manager
  readonly installed: boolean
}

function nextSteps(dir: string, { model, page, auth }: Choices, { manager, installed }: Installing): string {
  const origin = 'http://localhost:3000'
  const key = KEYS[model]
  const steps = [
    ...(resolve(dir) === process.cwd() ? [] : [`cd ${quoted(dir)}`]),
    ...(installed ? [] : [`${manager} install`]),
    `${manager} run dev`,
  ]
  const places = [...(page ? [['chat', origin]] : []), ['devtools', `${origin}/agents/devtools`]]
  return [
    ...(key === undefined
      ? []
      : ['', `Put the provider's key into .env as ${key}. Until then, a script answers.`]),
    '',
    'Next:',
    ...steps.map((step) => `  ${step}`),
    '',
    'Then open:',
    ...places.map(([name, url]) => `  ${name!.padEnd(8)}  ${url}`),
    '',
    `Clients call the agent at ${origin}/agents.`,
    ...(auth ? ['Sign in with the user name and the password in .env.'] : []),
  ].join('\n')
}

/** A path as a word of a shell. */
const quoted = (path: string): string => (/^[\w./\\:~-]+$/.test(path) ? path : `"${path}"`)

/** Asks the user. */
interface Ask {
  text(question: string, byDefault: string): Promise<string>
  /** `answers` maps each answer to what it means. */
  one(question: string, answers: Readonly<Record<string, string>>): Promise<string>
  yes(question: string, byDefault: boolean): Promise<boolean>
}

/**
 * Asks on a terminal. An answer is the number of a choice, its name or the start of its name. An empty answer
 * selects the first.
 */
function askOnTerminal(line: (question: string) => Promise<string>, out: (text: string) => void): Ask {
  return {
    async text(question, byDefault) {
      return (await line(`\n${question} [${byDefault}] `)).trim() || byDefault
    },
    async one(question, answers) {
      const names = Object.keys(answers)
      const width = Math.max(...names.map((name) => name.length))
      const rows = names.map((name, at) => `  ${at + 1}  ${name.padEnd(width)}  ${answers[name]}`)
      out(`\n${question}\n${rows.join('\n')}`)
      for (;;) {
        const given = (await line(`[${names[0]}] `)).trim().toLowerCase()
        const found =
          given === '' ? names[0] : (names[Number(given) - 1] ?? names.find((one) => one.startsWith(given)))
        if (found !== undefined) return found
        out(`Answer with a number from 1 to ${names.length}, or a name.`)
      }
    },
    async yes(question, byDefault) {
      for (;;) {
        const given = (await line(`\n${question} [${byDefault ? 'Y/n' : 'y/N'}] `)).trim().toLowerCase()
        if (given === '') return byDefault
        if (/^(?:yes|y|no|n)$/.test(given)) return given.startsWith('y')
        out('Answer with y or n.')
      }
    },
  }
}
