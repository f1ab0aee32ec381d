import { HttpError } from '../http/index.ts'
import { PAGE } from './page/compiled.ts'

/** `GET /devtools`: the page, which asks the rest of this face for everything it shows. */
export async function getPage(): Promise<Response> {
  if (!PAGE)
    throw new HttpError(501, 'not_built', 'The page is compiled when the package is built: npm run build.')
  const { html, scriptHash, styleHash } = PAGE
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyOf(scriptHash, styleHash),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
  })
}

const policyOf = (script: string, style: string): string =>
  [
    "default-src 'none'",
    `script-src '${script}'`,
    `style-src '${style}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
