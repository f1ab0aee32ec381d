import { EventSourceParserStream } from 'eventsource-parser/stream'
import { type Served, serve } from '../../../adapters/node.ts'
import { AgentwireError } from '../../core/errors.ts'
import type { WebHandler } from '../../core/http/index.ts'
import { agUi } from '../../faces/ag-ui/index.ts'
import { aiSdk } from '../../faces/ai-sdk/index.ts'
import { mcp } from '../../faces/mcp/index.ts'
import { openAi } from '../../faces/openai/index.ts'
import { createAgentServer } from '../../index.ts'
import { anthropic, type Model, openai } from '../../models/formats/models.ts'
import { openStorage } from '../../storage/open.ts'
import { isMcpInstalled } from '../serve/mcp.ts'
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
import { demoAgents, offlineModel } from './agents.ts'
import { CHAT } from './page/compiled.ts'

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

interface DemoOptions {
  readonly port: number
  /** The URL of a database, or `memory:`. */
  readonly storage: string
  readonly env: Terminal['env']
}

interface Demo extends Pick<Served, 'origin' | 'close'> {
  /** What is served, for a terminal. */
  readonly banner: string
}

/** Serves the chat with its agents, and all protocols whose packages are there. */
export async function startDemo({ port, storage, env }: DemoOptions): Promise<Demo> {
  const provided = providerOf(env)
  const opened = await openStorage(storage)
  const server = createAgentServer({
    agents: demoAgents(provided?.model ?? offlineModel()),
    defaultAgent: 'assistant',
    ...opened,
    devtools: true,
    errorMessage: true,
    faces: [aiSdk(), agUi(), openAi(), ...(isMcpInstalled() ? [mcp()] : [])],
  })
  const { origin, close } = await serve(withChat(server), { port, silent: true })
  const model =
    provided?.label ?? 'scripted, offline; OPENAI_API_KEY or ANTHROPIC_API_KEY choose a provider’s'
  const banner = [server.banner(origin), `  model    ${model}`, `  chat     ${origin}`].join('\n')
  return { origin, banner, close: () => close().then(() => opened.close()) }
}

const withChat = (server: WebHandler): WebHandler => ({
  ...server,
  fetch: async (request, context) =>
    new URL(request.url).pathname === '/' && isRead(request) && wantsPage(request)
      ? chat(request)
      : server.fetch(request, context),
})

const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD'

/** Others than browsers get the server's own answer, which is JSON. */
const wantsPage = ({ headers }: Request): boolean => /\btext\/html\b/.test(headers.get('accept') ?? '')

function chat({ method }: Request): Response {
  if (!CHAT)
    return new Response('The page is compiled when the package is built: npm run build.', { status: 501 })
  return new Response(method === 'HEAD' ? null : CHAT.html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': [
        "default-src 'none'",
        `script-src '${CHAT.scriptHash}'`,
        `style-src '${CHAT.styleHash}'`,
        "connect-src 'self'",
        'img-src data:',
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'cache-control': 'no-store',
      vary: 'accept',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  })
}

type Environment = Readonly<Record<string, string | undefined>>

/** A provider's model, and its name for the terminal. */
interface Provided {
  readonly label: string
  readonly model: Model
}

/**
 * The model of the first provider whose key is in the environment. The packages of the providers are not needed:
 * a model wants no more of a client than one request that streams.
 */
function providerOf(env: Environment): Provided | undefined {
  const { OPENAI_API_KEY, ANTHROPIC_API_KEY } = env
  if (OPENAI_API_KEY) {
    const name = env.OPENAI_MODEL || 'gpt-5-mini'
    const create = requests(baseOf(env.OPENAI_BASE_URL, 'https://api.openai.com/v1'), '/chat/completions', {
      authorization: `Bearer ${OPENAI_API_KEY}`,
    })
    return { label: `OpenAI’s ${name}`, model: openai(name, { chat: { completions: { create } } }) }
  }
  if (ANTHROPIC_API_KEY) {
    const name = env.ANTHROPIC_MODEL || 'claude-sonnet-4-5'
    const create = requests(baseOf(env.ANTHROPIC_BASE_URL, 'https://api.anthropic.com'), '/v1/messages', {
      'x-api-key': ANTHROPIC_API_KEY,
      'anthropic-version': '2023-06-01',
    })
    return { label: `Anthropic’s ${name}`, model: anthropic(name, { messages: { create } }) }
  }
  return undefined
}

function baseOf(given: string | undefined, otherwise: string): string {
  const base = given || otherwise
  if (URL.canParse(base)) return base.replace(/\/$/, '')
  throw new UsageError(`The base URL of the provider must be a URL, not “${base}”.`)
}

const requests =
  (base: string, path: string, headers: Readonly<Record<string, string>>) =>
  async (
    body: never,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<AsyncIterable<unknown>> => {
    const response = await fetch(`${base}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: signal ?? null,
    })
    if (!response.ok)
      throw new Error(`The provider answered with status ${response.status}: ${await response.text()}`)
    return chunksOf(response)
  }

async function* chunksOf({ body }: Response): AsyncGenerator<unknown> {
  const events = body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const { data } of events) if (data !== '[DONE]') yield JSON.parse(data)
}
