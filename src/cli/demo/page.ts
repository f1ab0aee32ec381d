import type { WebHandler } from '../../core/http/index.ts'
import { CHAT } from './page/compiled.ts'

/** The server with the chat at its root. */
export const withChat = (server: WebHandler): WebHandler => ({
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
