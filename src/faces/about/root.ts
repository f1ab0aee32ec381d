import { json, type WebHandler } from '../../core/http/index.ts'
import { publicOrigin } from '../../core/http/origins.ts'
import { createFace, type FaceSetup } from '../kit/create-face.ts'
import { route } from '../kit/routes.ts'
import type { ServerAbout } from './about.ts'

/**
 * The root of a mount, such as `/agents`: a small page for browsers, and JSON for others. At the root of a
 * host the path may be the host's own, so `handle` answers it only below a prefix.
 */
export function withRoot(
  server: WebHandler,
  setup: FaceSetup,
  {
    basePath = '',
    about,
  }: { readonly basePath?: string | undefined; readonly about: (mount: string) => ServerAbout },
): WebHandler {
  const root = createFace(setup, {
    basePath,
    routes: [
      route('GET', '/', {
        permission: null,
        async run(_, call) {
          const mount = call.url.pathname.replace(/\/$/, '')
          const url = publicOrigin(call.request.headers, call.url).origin + mount
          const headers = { vary: 'accept', 'cache-control': 'no-store' }
          if (!/\btext\/html\b/.test(call.request.headers.get('accept') ?? '')) {
            const { agents, doors, devtools } = about(mount)
            return json({ agents, doors, ...(devtools && { devtools: `${url}/devtools` }) }, { headers })
          }
          const { pageOf, POLICY } = await import('./page.ts')
          return new Response(pageOf(about(mount), url), {
            headers: {
              ...headers,
              'content-type': 'text/html; charset=utf-8',
              'content-security-policy': POLICY,
              'x-content-type-options': 'nosniff',
            },
          })
        },
      }),
    ],
  })
  const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD'
  return {
    ...server,
    async handle(request, context) {
      const response = await server.handle(request, context)
      if (response || !isRead(request) || !(context?.basePath || basePath)) return response
      return root.handle(request, context)
    },
    async fetch(request, context) {
      // A face may have a page of its own there.
      const response = isRead(request)
        ? ((await server.handle(request, context)) ?? (await root.handle(request, context)))
        : undefined
      return response ?? server.fetch(request, context)
    },
    requirePrincipal() {
      server.requirePrincipal?.()
      root.requirePrincipal?.()
    },
    async close() {
      await Promise.all([root.close(), server.close()])
    },
  }
}
