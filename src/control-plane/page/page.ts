import { SCRIPT } from './script.ts'
import { STYLE } from './style.ts'

/**
 * The document contains no text from the request. Its script runs with a nonce, and only calls this server.
 */
export function deploymentPage(): Response {
  const nonce = crypto.randomUUID()
  const policy = [
    "default-src 'none'",
    "connect-src 'self'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return new Response(documentOf(nonce), {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy.join('; '),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}

const documentOf = (nonce: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Deployment</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
<header><h1 id="name">Deployment</h1> <span id="status" class="status"></span></header>
<p id="message" role="status">Loading…</p>
<form id="sign-in" hidden>
<label for="key">API key</label>
<input id="key" type="password" autocomplete="off" required>
<button>Show the deployment</button>
</form>
<div id="deployment" hidden>
<p><a id="url" rel="noreferrer"></a></p>
<h2>Revisions</h2>
<div class="wide"><table>
<thead><tr><th>Revision</th><th>Status</th><th>Created</th><th>Reason</th></tr></thead>
<tbody id="revisions"></tbody>
</table></div>
<h2>Logs</h2>
<div role="group" aria-label="Which log">
<button id="show-deploy" aria-pressed="true">Servers</button>
<button id="show-build" aria-pressed="false">Newest build</button>
</div>
<pre id="deploy" tabindex="0" aria-label="Log of the servers"></pre>
<pre id="build" tabindex="0" aria-label="Log of the newest build" hidden></pre>
</div>
</main>
<script type="module" nonce="${nonce}">${SCRIPT}</script>
</body>
</html>
`
