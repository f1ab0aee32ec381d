import { HttpError, json } from '../../core/http/index.ts'
import type { CompiledPage } from './page/compiled.ts'
import type { LayoutScript } from './wire.ts'

/** `GET /devtools`: the page, which asks the rest of this face for everything it shows. */
export async function getPage(): Promise<Response> {
  const { html, scriptHash, styleHash, layout } = await compiled()
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyOf([scriptHash, layout.hash], styleHash),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
  })
}

/** `GET …/api/layout`: the script that computes graph layouts, which the page loads when a graph is opened. */
export const getLayout = async (): Promise<Response> =>
  json({ script: (await compiled()).layout.script } satisfies LayoutScript)

async function compiled(): Promise<CompiledPage> {
  const { PAGE } = await import('./page/compiled.ts')
  if (PAGE) return PAGE
  throw new HttpError(501, 'not_built', 'The page is compiled when the package is built: npm run build.')
}

const policyOf = (scripts: readonly string[], style: string): string =>
  [
    "default-src 'none'",
    `script-src ${scripts.map((hash) => `'${hash}'`).join(' ')}`,
    `style-src '${style}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
