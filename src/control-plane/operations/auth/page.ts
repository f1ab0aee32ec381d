/** A page for a user whom a provider has redirected back. It loads and runs nothing from other origins. */
export function htmlPage(status: number, title: string, text: string): Response {
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title></head>
<body><main><h1>${escaped(title)}</h1><p>${escaped(text)}</p></main></body>
</html>
`
  return new Response(page, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      'x-content-type-options': 'nosniff',
      // The page's URL contains the code.
      'referrer-policy': 'no-referrer',
    },
  })
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
