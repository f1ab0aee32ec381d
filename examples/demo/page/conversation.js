/**
 * What the page knows of one thread, and how each event changes it. No DOM here.
 *
 * A scope is a conversation within the thread: '' is the thread's own, a subagent's is the namespace its call runs in.
 * @typedef {import('./protocol.js').ProtocolEvent} ProtocolEvent
 * @typedef {{ id: string, role: 'human' | 'ai', text: string, calls: string[], saved: boolean }} Message
 * @typedef {{ id: string, name: string, args: unknown, status: 'running' | 'done' | 'error', result: string, scope: string | undefined }} Call
 * @typedef {{ id: string, payload: any }} Question
 * @typedef {{ scopes: Map<string, Message[]>, calls: Map<string, Call>, open: Map<string, Message>, questions: Question[], running: boolean, error: string | undefined }} Conversation
 */

/** @returns {Conversation} */
export function emptyConversation() {
  return {
    scopes: new Map([['', []]]),
    calls: new Map(),
    open: new Map(),
    questions: [],
    running: false,
    error: undefined,
  }
}

/** @param {any} state what GET /threads/:id/state answered @returns {Conversation} */
export function fromState(state) {
  const conversation = emptyConversation()
  takeValues(conversation, state.values)
  conversation.questions = state.tasks.flatMap((/** @type {any} */ task) =>
    task.interrupts.map((/** @type {any} */ one) => ({ id: one.id, payload: one.value })),
  )
  return conversation
}

/** @param {Conversation} conversation @param {string} id @param {string} text */
export function addHuman(conversation, id, text) {
  messagesOf(conversation, '').push({ id, role: 'human', text, calls: [], saved: false })
}

/** @param {Conversation} conversation @param {ProtocolEvent} event */
export function apply(conversation, { method, params: { namespace, node, data } }) {
  if (method === 'messages') takeMessageEvent(conversation, namespace, node, data)
  else if (method === 'tools') takeToolEvent(conversation, namespace, data)
  else if (method === 'values' && namespace.length === 0) takeValues(conversation, data)
  else if (method === 'lifecycle' && namespace.length === 0) takeLifecycle(conversation, data)
  else if (method === 'input.requested') takeQuestion(conversation, data)
}

/** @param {Conversation} conversation @param {any} data */
function takeLifecycle(conversation, data) {
  conversation.running = data.event === 'running'
  conversation.error = data.event === 'failed' ? (data.error ?? 'The run failed.') : undefined
  if (!conversation.running) conversation.open.clear()
}

/** @param {Conversation} conversation @param {any} data */
function takeQuestion(conversation, { interrupt_id: id, payload }) {
  if (!conversation.questions.some((question) => question.id === id))
    conversation.questions.push({ id, payload })
}

/** @param {Conversation} conversation @param {string[]} namespace @param {string | undefined} node @param {any} data */
function takeMessageEvent(conversation, namespace, node, data) {
  const key = `${namespace.join('|')} ${node ?? ''}`
  if (data.event === 'message-start') {
    conversation.open.delete(key)
    const message = startMessage(conversation, scopeOf(namespace), data)
    if (message !== undefined) conversation.open.set(key, message)
    return
  }
  const message = conversation.open.get(key)
  if (message === undefined) return
  if (data.event === 'message-finish' || data.event === 'error') conversation.open.delete(key)
  if (data.event === 'content-block-delta' && data.delta.type === 'text-delta')
    message.text += data.delta.text
  const block = data.content
  if (block?.type === 'text' && data.event === 'content-block-start') message.text += block.text
  if (block?.id && /^tool_call/.test(block.type)) {
    callOf(conversation, block.id, block.name).args = block.args
    if (!message.calls.includes(block.id)) message.calls.push(block.id)
  }
}

/**
 * A message that is complete in a saved state is not streamed again.
 * @param {Conversation} conversation @param {string} scope @param {any} data @returns {Message | undefined}
 */
function startMessage(conversation, scope, { id, role = 'ai' }) {
  if (role !== 'ai') return undefined
  const messages = messagesOf(conversation, scope)
  const known = messages.find((message) => message.id === id)
  if (known?.saved) return undefined
  const message = known ?? { id, role, text: '', calls: [], saved: false }
  message.text = ''
  if (known === undefined) messages.push(message)
  return message
}

/** @param {Conversation} conversation @param {string[]} namespace @param {any} data */
function takeToolEvent(conversation, namespace, data) {
  const call = callOf(conversation, data.tool_call_id, data.tool_name)
  if (data.event === 'tool-started') {
    const scope = namespace.join('|')
    call.args = parsed(data.input)
    if (![...conversation.calls.values()].some((other) => other.scope === scope)) call.scope = scope
    showCall(conversation, scopeOf(namespace.slice(0, -1)), call.id)
  } else if (data.event === 'tool-output-delta') call.result += data.delta
  else if (data.event === 'tool-finished') {
    call.status = failed(data.output) ? 'error' : 'done'
    call.result = outputText(data.output)
  } else if (data.event === 'tool-error') {
    call.status = 'error'
    call.result = data.message
  }
}

/**
 * The state after a step decides which messages there are and in which order. Messages that it does not have yet keep their place.
 * @param {Conversation} conversation @param {any} values
 */
function takeValues(conversation, values) {
  if (!Array.isArray(values?.messages)) return
  const before = messagesOf(conversation, '')
  /** @type {Message[]} */
  const after = []
  for (const message of values.messages) {
    if (message.type === 'tool') takeToolMessage(conversation, message)
    else if (message.type === 'human' || message.type === 'ai') {
      const calls = (message.tool_calls ?? []).map((/** @type {any} */ call) => {
        callOf(conversation, call.id, call.name).args = call.args
        return call.id
      })
      after.push({ id: message.id, role: message.type, text: textOf(message.content), calls, saved: true })
    }
  }
  keepUnsaved(before, after)
  conversation.scopes.set('', after)
}

/**
 * Puts each message that is in no state yet behind the one it followed.
 * @param {Message[]} before @param {Message[]} after
 */
function keepUnsaved(before, after) {
  const known = new Set(after.flatMap((message) => [message.id, ...message.calls]))
  let place = 0
  for (const message of before) {
    const at = after.findIndex(({ id }) => id === message.id)
    const whole = message.calls.length > 0 && message.calls.every((id) => known.has(id))
    if (at >= 0) place = at + 1
    else if (!message.saved && !whole) after.splice(place++, 0, message)
  }
}

/** @param {Conversation} conversation @param {any} message */
function takeToolMessage(conversation, message) {
  const call = callOf(conversation, message.tool_call_id, message.name ?? 'tool')
  call.status = message.status === 'error' ? 'error' : 'done'
  call.result = textOf(message.content)
}

/** @param {Conversation} conversation @param {string} scope @returns {Message[]} */
export function messagesOf({ scopes }, scope) {
  const messages = scopes.get(scope) ?? []
  scopes.set(scope, messages)
  return messages
}

/** @param {Conversation} conversation @param {string} id @param {string | undefined} name @returns {Call} */
function callOf({ calls }, id, name) {
  const call = calls.get(id) ?? {
    id,
    name: name ?? 'tool',
    args: '',
    status: 'running',
    result: '',
    scope: undefined,
  }
  calls.set(id, call)
  return call
}

/**
 * Shows a call that is in no message, such as a function's own, as a message.
 * @param {Conversation} conversation @param {string} scope @param {string} id
 */
function showCall(conversation, scope, id) {
  const messages = messagesOf(conversation, scope)
  if (!messages.some((message) => message.calls.includes(id)))
    messages.push({ id: `call ${id}`, role: 'ai', text: '', calls: [id], saved: false })
}

/** The namespace up to the innermost tool it lies in. @param {string[]} namespace */
function scopeOf(namespace) {
  const last = namespace.findLastIndex((segment) => /^(tools|task):/.test(segment))
  return namespace.slice(0, last + 1).join('|')
}

/** @param {any} content @returns {string} */
export function textOf(content) {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return content === undefined ? '' : JSON.stringify(content)
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

/** A tool's output: a tool message, a command that brings one, or anything. @param {any} output */
function toolMessage(output) {
  return output?.update?.messages?.at(-1) ?? output
}

/** @param {any} output */
function failed(output) {
  return toolMessage(output)?.status === 'error'
}

/** @param {any} output @returns {string} */
function outputText(output) {
  const message = toolMessage(output)
  return textOf(message?.content ?? message)
}

/** @param {unknown} input */
function parsed(input) {
  try {
    return typeof input === 'string' ? JSON.parse(input) : input
  } catch {
    return input
  }
}
