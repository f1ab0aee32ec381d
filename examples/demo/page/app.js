import { addHuman, apply, emptyConversation, fromState } from './conversation.js'
import { cancelRun, command, deleteThread, follow, listThreads, loadThread } from './protocol.js'
import { drawConversation, h } from './view.js'

/** @template {HTMLElement} T @param {string} id @returns {T} */
const byId = (id) => /** @type {T} */ (document.getElementById(id))

const agentPicker = /** @type {HTMLSelectElement} */ (byId('agent'))
const composer = /** @type {HTMLFormElement} */ (byId('composer'))
const draft = /** @type {HTMLTextAreaElement} */ (byId('draft'))
const sendButton = /** @type {HTMLButtonElement} */ (byId('send'))
const stopButton = /** @type {HTMLButtonElement} */ (byId('stop'))
const log = byId('log')
const messages = byId('messages')

/** @type {{ model: string, agents: { id: string, description: string, examples: string[] }[] }} */
const demo = await (await fetch('demo.json')).json()

let threadId = ''
let conversation = emptyConversation()
let stopFollowing = new AbortController()

/** Opens the thread that the address names, or a new one. */
async function openThread() {
  stopFollowing.abort()
  stopFollowing = new AbortController()
  const { signal } = stopFollowing
  const named = decodeURIComponent(location.hash.slice(1))
  threadId = named || crypto.randomUUID()
  conversation = emptyConversation()
  agentPicker.disabled = false
  draw()
  const thread = named === '' ? undefined : await loadThread(named).catch(showProblem)
  if (signal.aborted) return
  if (thread !== undefined) {
    conversation = fromState(thread.state)
    bindAgent(thread.record.metadata?.assistant_id)
  }
  draw()
  await Promise.all([listenTo(signal), drawThreads()])
}

/** @param {AbortSignal} signal */
async function listenTo(signal) {
  await follow(threadId, {
    signal,
    onEvent(event) {
      const before = conversation.running
      apply(conversation, event)
      scheduleDraw()
      if (before && !conversation.running) drawThreads().catch(showProblem)
    },
    onConnection: (connected) => showNotice(connected ? '' : 'The connection is lost. Trying again…'),
  })
}

/** A thread keeps the agent it began with. @param {string | undefined} agent */
function bindAgent(agent) {
  if (agent === undefined) return
  agentPicker.value = agent
  agentPicker.disabled = true
}

/** @param {string} text */
async function send(text) {
  const id = crypto.randomUUID()
  addHuman(conversation, id, text)
  bindAgent(agentPicker.value)
  history.replaceState(null, '', `#${encodeURIComponent(threadId)}`)
  await start(() =>
    command(threadId, 'run.start', {
      assistant_id: agentPicker.value,
      input: { messages: [{ type: 'human', id, content: text }] },
    }),
  )
  await drawThreads()
}

/** @param {import('./conversation.js').Question} question @param {unknown} response */
async function respond(question, response) {
  conversation.questions = conversation.questions.filter((one) => one !== question)
  await start(() =>
    command(threadId, 'input.respond', { namespace: [], interrupt_id: question.id, response }),
  )
}

/** Starts a run and remembers its id, so that it can be stopped after a reload too. @param {() => Promise<{ run_id?: string }>} begin */
async function start(begin) {
  const [thread, current] = [threadId, conversation]
  current.running = true
  current.error = undefined
  draw()
  try {
    const { run_id } = await begin()
    if (run_id !== undefined) sessionStorage.setItem(`run of ${thread}`, run_id)
  } catch (error) {
    current.running = false
    showProblem(error)
  }
  draw()
}

async function stop() {
  const runId = sessionStorage.getItem(`run of ${threadId}`)
  if (runId !== null) await cancelRun(threadId, runId)
}

async function drawThreads() {
  const threads = await listThreads()
  byId('threads').replaceChildren(...threads.map(threadRow))
  byId('no-threads').hidden = threads.length > 0
}

/** @param {{ id: string, title: string | null, updatedAt: string | null }} thread */
function threadRow({ id, title, updatedAt }) {
  const name = title || 'Untitled'
  const remove = async () => {
    const open = id === threadId
    if (open) stopFollowing.abort()
    await deleteThread(id)
    if (open) location.hash = ''
    await drawThreads()
  }
  const when =
    updatedAt === null
      ? ''
      : new Date(updatedAt).toLocaleString([], { dateStyle: 'short', timeStyle: 'short' })
  return h(
    'li',
    {},
    h(
      'a',
      { href: `#${encodeURIComponent(id)}`, 'aria-current': id === threadId ? 'page' : undefined },
      name,
      h('small', {}, when),
    ),
    h(
      'button',
      {
        class: 'quiet',
        'aria-label': `Delete “${name}”`,
        title: 'Delete',
        click: () => remove().catch(showProblem),
      },
      '×',
    ),
  )
}

function draw() {
  const { running, questions } = conversation
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80
  drawConversation(messages, conversation, (question, response) =>
    respond(question, response).catch(showProblem),
  )
  if (atEnd) log.scrollTop = log.scrollHeight
  const empty = messages.childElementCount === 0
  byId('welcome').hidden = !empty
  if (empty) drawWelcome()
  stopButton.hidden = !running
  sendButton.hidden = running
  draft.placeholder = questions.length > 0 ? 'Answer the question above first' : 'Write a message'
  draft.disabled = questions.length > 0
  log.setAttribute('aria-busy', String(running))
}

let scheduled = false

/** Draws once for many events. */
function scheduleDraw() {
  if (scheduled) return
  scheduled = true
  setTimeout(() => {
    scheduled = false
    draw()
  }, 16)
}

function drawWelcome() {
  const agent = demo.agents.find(({ id }) => id === agentPicker.value)
  byId('about').textContent = agent?.description ?? ''
  const examples = (agent?.examples ?? []).map((text) =>
    h('button', { type: 'button', click: () => send(text).catch(showProblem) }, text),
  )
  byId('examples').replaceChildren(...examples)
}

/** @param {string} text */
function showNotice(text) {
  byId('notice').textContent = text
}

/** @param {unknown} error @returns {undefined} */
function showProblem(error) {
  showNotice(error instanceof Error ? error.message : String(error))
}

byId('model').textContent = demo.model
agentPicker.append(...demo.agents.map(({ id }) => h('option', { value: id }, id)))
agentPicker.addEventListener('change', draw)
window.addEventListener('hashchange', () => openThread().catch(showProblem))
byId('new').addEventListener('click', () => {
  if (location.hash === '') openThread().catch(showProblem)
  else location.hash = ''
  draft.focus()
})
stopButton.addEventListener('click', () => stop().catch(showProblem))
composer.addEventListener('submit', (event) => {
  event.preventDefault()
  const text = draft.value.trim()
  if (text === '' || conversation.running || conversation.questions.length > 0) return
  draft.value = ''
  showNotice('')
  send(text).catch(showProblem)
})
draft.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  composer.requestSubmit()
})
openThread().catch(showProblem)
