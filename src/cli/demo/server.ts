import { type Served, serve } from '../../../adapters/node/serve.ts'
import type { WebHandler } from '../../core/http/index.ts'
import { agUi } from '../../faces/ag-ui/index.ts'
import { aiSdk } from '../../faces/ai-sdk/index.ts'
import { mcp } from '../../faces/mcp/index.ts'
import { openAi } from '../../faces/openai/index.ts'
import { createAgentServer } from '../../server.ts'
import { openStorage } from '../../storage/open.ts'
import { isMcpInstalled } from '../serve/mcp.ts'
import type { Terminal } from '../terminal.ts'
import { demoAgents } from './agents.ts'
import { CHAT } from './page/compiled.ts'
import { providerOf } from './provider.ts'
import { offlineModel } from './script.ts'

export interface DemoOptions {
  readonly port: number
  /** The URL of a database, or `memory:`. */
  readonly storage: string
  readonly env: Terminal['env']
}

export interface Demo extends Pick<Served, 'origin' | 'close'> {
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

/** The server with the chat at its root. */
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
