import { json, type Route } from '../../../http/index.ts'
import type { Operation } from '../operation.ts'
import { documentOf, type OpenApiDocument } from './document.ts'
import { renderPage } from './page.ts'

const DOCUMENT = '/openapi.json'
const PAGE = '/docs'

/** The document of operations and a page to read and try it, both public. */
export function documentRoutes(operations: readonly Operation[]): readonly Route[] {
  let known: OpenApiDocument | undefined
  const document = (): OpenApiDocument => (known ??= documentOf(operations))
  return [
    ['GET', DOCUMENT, ({ url }) => json({ ...document(), ...serversOf(url) }), 'public'],
    ['GET', PAGE, () => html(document()), 'public'],
  ]
}

/** Where the API is mounted. */
const serversOf = ({ pathname }: URL): Pick<OpenApiDocument, 'servers'> => ({
  servers: [{ url: pathname.slice(0, pathname.lastIndexOf(DOCUMENT)) || '/' }],
})

function html(document: OpenApiDocument): Response {
  const nonce = crypto.randomUUID()
  return new Response(renderPage(document, nonce), {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policyOf(nonce),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  })
}

/** Nothing is loaded, and only this server is called. */
const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
