import { html } from '../../api/document/html.ts'

/** A page for a person whom a provider has sent back. Nothing of others is loaded or run. */
export function htmlPage(status: number, title: string, text: string): Response {
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body><main><h1>${title}</h1><p>${text}</p></main></body>
</html>
`
  return new Response(page.html, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      'x-content-type-options': 'nosniff',
      // The URL of the page has the code.
      'referrer-policy': 'no-referrer',
    },
  })
}
