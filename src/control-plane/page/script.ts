/** The page's script. It only writes text, no markup. */
export const SCRIPT = String.raw`
const [, base, tenant, id] = /^(.*)\/o\/([^/]+)\/host\/deployments\/([^/]+)\/?$/.exec(location.pathname)
const api = base + '/v2/deployments/' + id
const KEY = 'agentwire-api-key'
/** How many lines of a log are shown. */
const LINES = 2000
const $ = (name) => document.getElementById(name)
const say = (text) => ($('message').textContent = text)
let withTenant = false

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
  if (deployment.status === 401 || deployment.status === 403) return signIn(deployment.status)
  if (!deployment.ok) return say((await deployment.json()).detail)
  const shown = await deployment.json()
  show(shown, (await revisions.json()).resources)
  // Before the first revision serves, only its build has a log.
  if ($('deployment').hidden && shown.active_revision_id === null) select('build')
  $('sign-in').hidden = true
  $('deployment').hidden = false
  say('')
  return true
}).catch(() => say('The control plane cannot be reached.')))

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

/** Handles one event. Returns whether it was the last. */
function take(type, data) {
  if (type === 'status') {
    // A build log starts with its revision.
    if (data.status === 'CREATING') $('build').replaceChildren()
    load()
  } else if (type === 'deleted') {
    Object.assign($('status'), { textContent: 'DELETED', className: 'status bad' })
    say('The deployment was deleted.')
  } else append(type, data)
  return type === 'deleted'
}

/** Follows the events. After a lost connection, it continues after the last one. */
async function follow() {
  let last = ''
  for (let isOver = false; !isOver; ) {
    try {
      const response = await ask(api + '/events', last === '' ? {} : { 'last-event-id': last })
      if (!response.ok) return
      let text = ''
      for (const reader = response.body.pipeThrough(new TextDecoderStream()).getReader(); !isOver; ) {
        const { done, value } = await reader.read()
        if (done) break
        const events = (text + value).split('\n\n')
        // Heartbeats are lines before the next event.
        text = events.pop().replace(/^(:.*\\n)+/, '')
        for (const event of events) {
          const fields = Object.fromEntries(event.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]))
          if (fields.id) last = fields.id
          if (fields.event) isOver = take(fields.event, JSON.parse(fields.data))
        }
      }
    } catch {
      say('The connection was lost. It is opened again…')
    }
    if (!isOver) await new Promise((resolve) => setTimeout(resolve, 1000))
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
