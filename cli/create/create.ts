import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { parseCommandLine } from '../options.ts'
import { type ExitCode, type Terminal, UsageError } from '../terminal.ts'
import { type Ask, askOnTerminal } from './ask.ts'
import { CHOICES, type Choice, type Choices } from './choices.ts'
import { exampleReader } from './examples.ts'
import { type ProjectFiles, projectOf } from './project.ts'

export const CREATE_USAGE = `agentwire create [DIR]  creates a new project with a server, an agent and a test; default: my-agents

  --framework NAME        hono, express, fastify, next or node
  --storage NAME          sqlite, memory, postgres or redis
  --model NAME            scripted (offline), openai, anthropic or google
  --auth, --no-auth       with or without sign-in
  --page, --no-page       with or without a chat page
  --no-install            does not run npm install
  --yes                   does not ask; defaults: hono, sqlite, scripted, --no-auth, --page
  --help                  shows this text

On a terminal, it asks for the options you do not pass.`

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
  const [dir = 'my-agents', ...more] = positionals
  if (more.length > 0) throw new UsageError(`agentwire create takes one folder; remove “${more[0]}”.`)
  const folder = resolve(dir)
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new UsageError(`${dir} is not empty: choose a new folder.`)
  const given = givenOf(values)
  const ask = values.yes || terminal.ask === undefined ? undefined : askOnTerminal(terminal.ask, terminal.out)
  const choices = await choose(given, ask)
  write(folder, projectOf(nameOf(folder), choices, exampleReader()))
  terminal.out(`Created ${dir}: ${describe(choices)}.`)
  const installed = !values['no-install'] && (await install(folder, terminal))
  terminal.out(nextSteps(folder, choices, installed))
  return 0
}

type Given = { -readonly [Name in keyof Choices]?: Choices[Name] | undefined }

interface Values extends Readonly<Record<Choice, string>> {
  readonly auth: boolean
  readonly 'no-auth': boolean
  readonly page: boolean
  readonly 'no-page': boolean
}

function givenOf(values: Partial<Values>): Given {
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
async function choose(given: Given, ask: Ask | undefined): Promise<Choices> {
  const one = async <Name extends Choice>(name: Name, question: string): Promise<Choices[Name]> =>
    (given[name] ?? (await ask?.one(question, CHOICES[name])) ?? CHOICES[name][0]) as Choices[Name]
  return {
    framework: await one('framework', 'Which framework?'),
    storage: await one('storage', 'Where should threads be stored?'),
    model: await one('model', 'Which model? “scripted” needs no key and no network.'),
    auth: given.auth ?? (await ask?.yes('Should users sign in?', false)) ?? false,
    page: given.page ?? (await ask?.yes('With a chat page?', true)) ?? true,
  }
}

function write(folder: string, files: ProjectFiles): void {
  for (const [path, text] of files) {
    const place = join(folder, path)
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, text)
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

async function install(folder: string, { out, problem }: Terminal): Promise<boolean> {
  out('Running npm install…')
  const child = spawn('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' })
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })
  if (code !== 0) problem('npm install failed. Run it again in the folder.')
  return code === 0
}

function nextSteps(folder: string, { model, page, auth }: Choices, installed: boolean): string {
  const from = relative(process.cwd(), folder)
  const steps = [...(from === '' ? [] : [`cd ${from}`]), ...(installed ? [] : ['npm install']), 'npm run dev']
  return [
    '',
    ...steps.map((step) => `  ${step}`),
    '',
    `Then ${page ? 'open http://localhost:3000' : 'the agent is at http://localhost:3000/agents'}.`,
    ...(auth ? ['The user name and password are in .env.'] : []),
    ...(model === 'scripted'
      ? []
      : ['Put the API key of the provider into .env first. “npm test” needs none.']),
  ].join('\n')
}
