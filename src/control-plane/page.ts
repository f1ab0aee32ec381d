/** The page's script. It only writes text, no markup. */
const SCRIPT = String.raw`
const [, base, tenant, id] = /^(.*)\/o\/([^/]+)\/host\/deployments\/([^/]+)\/?$/.exec(location.pathname)
const api = base + '/v2/deployments/' + id
const KEY = 'agentwire-api-key'
/** How many lines of a log are shown. */
const LINES = 2000
const $ = (name) => document.getElementById(name)
const say = (text) => ($('message').textContent = text)
let withTenant = false
let isDeleted = false

/** Calls the API with the user's key. A key to several tenants needs the name of one. */
async function ask(url, headers = {}) {
  const key = sessionStorage.getItem(KEY)
  const response = await fetch(url, {
    headers: { ...headers, ...(key && { 'x-api-key': key }), ...(withTenant && { 'x-tenant-id': tenant }) },
  })
  if (response.status !== 403 || withTenant) return response
  withTenant = true
  return ask(url, headers)
}

const element = (name, text, className = '') => Object.assign(document.createElement(name), { textContent: text, className })
const kindOf = (status) => /FAILED|UNKNOWN/.test(status) ? 'bad' : /^(DEPLOYED|READY)$/.test(status) ? 'good' : ''

function show(deployment, revisions) {
  const { name, status, source_config, active_revision_id } = deployment
  $('name').textContent = document.title = name
  Object.assign($('status'), { textContent: status, className: 'status ' + kindOf(status) })
  const url = source_config.custom_url ?? ''
  // Only a web address becomes a link.
  if (/^https?:/i.test(url)) $('url').href = url
  $('url').textContent = url
  $('revisions').replaceChildren(...revisions.map((revision) => {
    const row = element('tr', '')
    const state = element('td', '')
    const isActive = revision.id === active_revision_id
    state.append(element('span', revision.status + (isActive ? ' · active' : ''), 'status ' + kindOf(revision.status)))
    row.append(element('td', String(revision.revision_number)), state, element('td', new Date(revision.created_at).toLocaleString()), element('td', revision.status_message ?? ''))
    return row
  }))
}

function select(log) {
  for (const one of ['deploy', 'build']) {
    $(one).hidden = one !== log
    $('show-' + one).setAttribute('aria-pressed', String(one === log))
  }
  $(log).scrollTop = $(log).scrollHeight
}

let loading
/** Loads everything except the logs. Changes during a load are loaded afterwards. */
const load = () => (loading = (loading ?? Promise.resolve()).then(async () => {
  const [deployment, revisions] = await Promise.all([ask(api), ask(api + '/revisions?limit=20')])
  const [shown, { resources }] = await Promise.all([deployment.json(), revisions.json()])
  if (isDeleted) return
  if (deployment.status === 401 || deployment.status === 403) return signIn(deployment.status)
  if (deployment.status === 404 && !$('deployment').hidden) return showDeleted()
  if (!deployment.ok) return say(shown.detail)
  show(shown, resources)
  // Before the first revision serves, only its build has a log.
  if ($('deployment').hidden && shown.active_revision_id === null) select('build')
  $('sign-in').hidden = true
  $('deployment').hidden = false
  say('')
  return true
}).catch(() => isDeleted || say('The control plane cannot be reached.')))

/** The last thing that the page says. A read that is answered later does not replace it. */
function showDeleted() {
  isDeleted = true
  Object.assign($('status'), { textContent: 'DELETED', className: 'status bad' })
  say('The deployment was deleted.')
}

function signIn(status) {
  say(sessionStorage.getItem(KEY) ? 'The control plane rejects this API key (' + status + ').' : 'Sign in to see this deployment.')
  $('sign-in').hidden = false
}

function append(log, { timestamp, level, message }) {
  const pane = $(log)
  const isAtEnd = pane.scrollHeight - pane.scrollTop - pane.clientHeight < 40
  pane.append(element('span', timestamp + ' ' + message + '\n', level))
  while (pane.childElementCount > LINES) pane.firstElementChild.remove()
  if (isAtEnd) pane.scrollTop = pane.scrollHeight
}

function take(type, data) {
  if (type === 'status') {
    // A build log starts with its revision.
    if (data.status === 'CREATING') $('build').replaceChildren()
    load()
  } else if (type === 'deleted') showDeleted()
  else append(type, data)
}

/** Follows the events. After a lost connection, it continues after the last one. */
async function follow() {
  let last = ''
  let isLost = false
  while (!isDeleted) {
    try {
      const response = await ask(api + '/events', last === '' ? {} : { 'last-event-id': last })
      if (response.status >= 500) throw new Error(response.statusText)
      // The answer about the deployment itself says why.
      if (!response.ok) return load()
      if (isLost) load()
      isLost = false
      let text = ''
      for (const reader = response.body.pipeThrough(new TextDecoderStream()).getReader(); !isDeleted; ) {
        const { done, value } = await reader.read()
        if (done) break
        const events = (text + value).split('\n\n')
        // Heartbeats are lines before the next event.
        text = events.pop().replace(/^(:.*\\n)+/, '')
        for (const event of events) {
          const fields = Object.fromEntries(event.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]))
          if (fields.id) last = fields.id
          if (fields.event) take(fields.event, JSON.parse(fields.data))
        }
      }
    } catch {
      isLost = true
      say('The connection was lost. It is opened again…')
    }
    if (!isDeleted) await new Promise((resolve) => setTimeout(resolve, 1000))
  }
}

const start = async () => (await load()) && follow()
$('sign-in').addEventListener('submit', (event) => {
  event.preventDefault()
  sessionStorage.setItem(KEY, $('key').value)
  start()
})
for (const log of ['deploy', 'build'])
  $('show-' + log).addEventListener('click', () => select(log))
start()
`

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
