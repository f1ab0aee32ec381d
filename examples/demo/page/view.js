/**
 * Draws a conversation. A message is drawn again only when what it shows has changed, so that selected text and opened
 * details stay.
 * @typedef {import('./conversation.js').Conversation} Conversation
 * @typedef {import('./conversation.js').Message} Message
 * @typedef {import('./conversation.js').Call} Call
 * @typedef {import('./conversation.js').Question} Question
 * @typedef {(question: Question, response: unknown) => void} Answer
 */

/**
 * @param {string} tag @param {Record<string, any>} [attributes] @param {(Node | string | undefined)[]} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value))
  }
  element.append(...children.filter((child) => child !== undefined))
  return element
}

/** @param {HTMLElement} list @param {Conversation} conversation @param {Answer} answer */
export function drawConversation(list, conversation, answer) {
  const messages = conversation.scopes.get('') ?? []
  const rows = [
    ...messages.filter(hasContent).map((message) => ({
      key: message.id,
      shows: signature(conversation, message),
      draw: () => drawMessage(conversation, message),
    })),
    ...conversation.questions.map((question) => ({
      key: `question ${question.id}`,
      shows: '',
      draw: () => drawQuestion(question, answer),
    })),
    ...(conversation.error === undefined ? [] : [errorRow(conversation.error)]),
    ...(isThinking(conversation, messages) ? [thinkingRow] : []),
  ]
  const old = new Map(
    [...list.children].map((element) => [/** @type {HTMLElement} */ (element).dataset.key, element]),
  )
  const wanted = rows.map((row) => {
    const element = /** @type {HTMLElement | undefined} */ (old.get(row.key))
    if (element !== undefined && element.dataset.shows === row.shows) return element
    const drawn = row.draw()
    drawn.dataset.key = row.key
    drawn.dataset.shows = row.shows
    if (element !== undefined) keepOpen(element, drawn)
    return drawn
  })
  for (const [at, element] of wanted.entries())
    if (list.children[at] !== element) list.insertBefore(element, list.children[at] ?? null)
  while (list.children.length > wanted.length) list.lastElementChild?.remove()
}

/** @param {Message} message */
const hasContent = (message) => message.role === 'human' || message.text !== '' || message.calls.length > 0

/** Nothing of an answer is on the screen yet. @param {Conversation} conversation @param {Message[]} messages */
const isThinking = ({ running }, messages) => running && messages.at(-1)?.role !== 'ai'

const thinkingRow = {
  key: 'thinking',
  shows: '',
  draw: () => h('li', { class: 'thinking', 'aria-label': 'Thinking' }, h('i'), h('i'), h('i')),
}

/** @param {string} error */
const errorRow = (error) => ({
  key: 'error',
  shows: error,
  draw: () => h('li', { class: 'error', role: 'alert' }, h('strong', {}, 'The run failed. '), error),
})

/** Everything the drawing of a message depends on. @param {Conversation} conversation @param {Message} message @returns {string} */
function signature(conversation, message) {
  const inner = (/** @type {string} */ id) => {
    const call = conversation.calls.get(id)
    const scope = call?.scope === undefined ? [] : (conversation.scopes.get(call.scope) ?? [])
    return [call, scope.map((one) => signature(conversation, one))]
  }
  return JSON.stringify([message.text, statusWord(conversation, 'running'), message.calls.map(inner)])
}

/** @param {Conversation} conversation @param {Message} message */
function drawMessage(conversation, message) {
  return h('li', { class: `message ${message.role}` }, ...messageParts(conversation, message))
}

/** @param {Conversation} conversation @param {Message} message @returns {(Node | undefined)[]} */
function messageParts(conversation, message) {
  const calls = message.calls.flatMap((id) => conversation.calls.get(id) ?? [])
  return [
    message.text === '' ? undefined : h('p', { class: 'text' }, message.text),
    calls.length === 0
      ? undefined
      : h('div', { class: 'calls' }, ...calls.map((call) => drawCall(conversation, call))),
  ]
}

/** @param {Conversation} conversation @param {Call} call */
function drawCall(conversation, call) {
  return call.name === 'task' ? drawSubagent(conversation, call) : drawTool(conversation, call)
}

/** @param {Conversation} conversation @param {Call} call */
function drawSubagent(conversation, call) {
  const args = /** @type {any} */ (call.args)
  const work = (call.scope === undefined ? [] : (conversation.scopes.get(call.scope) ?? [])).filter(
    hasContent,
  )
  const parts =
    work.length > 0 ? work.flatMap((message) => messageParts(conversation, message)) : [resultText(call)]
  return h(
    'section',
    { class: `subagent ${call.status}`, 'aria-label': `Subagent ${args?.subagent_type ?? ''}` },
    h('header', {}, h('b', {}, args?.subagent_type ?? 'subagent'), status(conversation, call)),
    h('p', { class: 'task' }, args?.description ?? ''),
    ...parts,
  )
}

/** @param {Conversation} conversation @param {Call} call */
function drawTool(conversation, call) {
  return h(
    'details',
    { class: `tool ${call.status}`, 'data-call': call.id },
    h(
      'summary',
      {},
      h('code', {}, call.name),
      h('span', { class: 'brief' }, brief(call.args)),
      status(conversation, call),
    ),
    h('pre', {}, typeof call.args === 'string' ? call.args : JSON.stringify(call.args, null, 2)),
    call.result === '' ? undefined : h('pre', {}, pretty(call.result)),
  )
}

/** @param {Call} call */
const resultText = (call) => (call.result === '' ? undefined : h('p', { class: 'text' }, call.result))

/** @param {Conversation} conversation @param {Call} call */
function status(conversation, call) {
  return h('span', { class: 'status' }, statusWord(conversation, call.status))
}

/** @param {Conversation} conversation @param {Call['status']} callStatus */
function statusWord(conversation, callStatus) {
  if (callStatus !== 'running') return callStatus === 'done' ? 'done' : 'failed'
  if (conversation.running) return 'working'
  return conversation.questions.length > 0 ? 'waiting' : 'stopped'
}

/** @param {unknown} args */
function brief(args) {
  if (typeof args !== 'object' || args === null) return String(args ?? '')
  return Object.values(args)
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join(' · ')
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** @param {Question} question @param {Answer} answer */
function drawQuestion(question, answer) {
  const actions = question.payload?.actionRequests
  const body = Array.isArray(actions) ? approvalForm(question, actions, answer) : answerForm(question, answer)
  return h('li', { class: 'question', role: 'group', 'aria-label': 'The agent waits for you' }, ...body)
}

/**
 * One decision for each call that waits; the answer goes out when all are made.
 * @param {Question} question @param {any[]} actions @param {Answer} answer
 */
function approvalForm(question, actions, answer) {
  /** @type {unknown[]} */
  const decisions = actions.map(() => undefined)
  return actions.map((action, at) => {
    const args = /** @type {HTMLTextAreaElement} */ (
      h(
        'textarea',
        { rows: 5, 'aria-label': `Arguments of ${action.name}`, spellcheck: 'false' },
        JSON.stringify(action.args, null, 2),
      )
    )
    const before = args.value
    const form = h('fieldset', {}, h('legend', {}, 'May I call ', h('code', {}, action.name), '?'), args)
    const decide = (/** @type {unknown} */ decision) => {
      decisions[at] = decision
      form.toggleAttribute('disabled', true)
      if (decisions.every((one) => one !== undefined)) answer(question, { decisions })
    }
    const approve = () => {
      const edited = args.value !== before && parsedArguments(args)
      if (args.value === before) decide({ type: 'approve' })
      else if (edited) decide({ type: 'edit', editedAction: { name: action.name, args: edited } })
    }
    const reject = () => decide({ type: 'reject', message: 'The user rejected this call.' })
    form.append(
      h(
        'div',
        { class: 'buttons' },
        h('button', { type: 'button', class: 'primary', click: approve }, 'Approve'),
        h('button', { type: 'button', click: reject }, 'Reject'),
      ),
    )
    return form
  })
}

/** Says what is wrong with edited arguments, in the field itself. @param {HTMLTextAreaElement} field */
function parsedArguments(field) {
  try {
    field.setCustomValidity('')
    return JSON.parse(field.value)
  } catch (error) {
    field.setCustomValidity(`This is not JSON: ${error instanceof Error ? error.message : error}`)
    field.reportValidity()
    return undefined
  }
}

/** @param {Question} question @param {Answer} answer */
function answerForm(question, answer) {
  const { payload } = question
  const field = /** @type {HTMLInputElement} */ (
    h('input', { 'aria-label': 'Your answer', autocomplete: 'off' })
  )
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    answer(question, field.value)
  }
  const text = typeof payload === 'string' ? payload : (payload?.question ?? JSON.stringify(payload, null, 2))
  return [
    h('p', { class: 'text' }, text),
    h(
      'form',
      { class: 'buttons', submit },
      field,
      h('button', { type: 'submit', class: 'primary' }, 'Answer'),
    ),
  ]
}

/** @param {HTMLElement} from @param {HTMLElement} to */
function keepOpen(from, to) {
  for (const details of from.querySelectorAll('details[open]'))
    to.querySelector(
      `[data-call="${CSS.escape(/** @type {HTMLElement} */ (details).dataset.call ?? '')}"]`,
    )?.setAttribute('open', '')
}
