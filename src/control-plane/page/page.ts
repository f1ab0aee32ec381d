import { SCRIPT } from './script.ts'

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

const STYLE = `
:root {
  color-scheme: light dark;
  --line: light-dark(#d4d4d8, #3f3f46);
  --soft: light-dark(#f4f4f5, #27272a);
  --muted: light-dark(#52525b, #a1a1aa);
  font: 16px/1.5 system-ui, sans-serif;
}
body { margin: 0; background: light-dark(#ffffff, #18181b); color: light-dark(#18181b, #fafafa); }
main { max-width: 60rem; margin: auto; padding: 1.5rem 1rem; }
[hidden] { display: none !important; }
header { display: flex; align-items: center; flex-wrap: wrap; gap: .75rem; }
a { color: light-dark(#1d4ed8, #93c5fd); }
h1 { margin: 0; font-size: 1.4rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1rem; }
.status { white-space: nowrap; padding: .1rem .6rem; border-radius: 1rem; background: var(--soft); font-size: .85rem; }
.status:empty { display: none; }
.good { background: light-dark(#dcfce7, #14532d); }
.bad { background: light-dark(#fee2e2, #7f1d1d); }
#message { color: var(--muted); }
#message:empty { display: none; }
.wide { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--muted); font-weight: 500; }
td:last-child { overflow-wrap: anywhere; white-space: pre-wrap; }
pre { height: 24rem; margin: .5rem 0; padding: .75rem; overflow: auto; border: 1px solid var(--line); border-radius: .5rem; background: var(--soft); font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
pre .ERROR, pre .CRITICAL { color: light-dark(#b91c1c, #fca5a5); }
pre .WARNING { color: light-dark(#854d0e, #fde047); }
form { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; }
input, button { min-height: 2.75rem; padding: 0 .9rem; border: 1px solid var(--line); border-radius: .5rem; background: transparent; color: inherit; font: inherit; }
button[aria-pressed="true"] { background: var(--soft); font-weight: 600; }
`
