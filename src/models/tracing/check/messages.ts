import { isRecord } from '../../../messages/record.ts'
import { type Fields, fieldsOf } from '../../formats/fields.ts'

/** The requirements of a fully functional trace of a model call (platform interface, "Four requirements"). */
export type Requirement = 'run type' | 'message format' | 'provider and model' | 'token counts'

export interface Finding {
  /** The path from the run, as in code: `outputs.messages[0].content[1]`. */
  readonly path: string
  /** What is wrong, what it breaks, and what to do. */
  readonly message: string
  /** The requirement that the run misses. Absent if a single message or count is wrong. */
  readonly requirement?: Requirement
}

/** The platform's roles, and the two additional roles of chat completions. */
const ROLES = ['system', 'reasoning', 'user', 'assistant', 'tool', 'developer', 'function']

const isText = (value: unknown) => typeof value === 'string'
const isId = (value: unknown) => typeof value === 'string' && value !== ''

/** The required fields of each platform block. */
const REQUIRED: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  text: { text: isText },
  reasoning: { text: isText },
  image: {},
  file: {},
  audio: {},
  video: {},
  tool_use: { name: isId },
  tool_call: { name: isId, args: isRecord },
  server_tool_call: { id: isId, name: isId, args: isRecord },
  server_tool_result: { tool_call_id: isId, status: (value) => value === 'success' || value === 'error' },
}
const MEDIA = ['image', 'file', 'audio', 'video']

/** The OpenAI and Anthropic blocks that the platform also accepts. */
const FOREIGN =
  /^(image_url|input_audio|refusal|thinking|redacted_thinking|tool_use|tool_result|document|server_tool_use|\w+_tool_result)$/

interface Calls {
  readonly own: Set<unknown>
  readonly server: Set<unknown>
}

/** Reports the errors in a run's messages, input first. */
export function checkMessages(inputs: unknown, outputs: unknown): Finding[] {
  const findings: Finding[] = []
  const calls: Calls = { own: new Set(), server: new Set() }
  for (const [path, value] of [...messagesIn(inputs, 'inputs'), ...messagesIn(outputs, 'outputs')])
    checkMessage(value, path, calls, (at, message) => void findings.push({ path: at, message }))
  return findings
}

function messagesIn(holder: unknown, name: string): [path: string, message: unknown][] {
  if (Array.isArray(holder)) return [[name, { role: holder[0] as unknown, content: holder[1] as unknown }]]
  const { messages, choices, message, role } = fieldsOf(holder)
  const listed = (list: readonly unknown[], key: string) =>
    list.map((item, at): [string, unknown] => [`${name}.${key}[${at}]`, item])
  if (Array.isArray(messages)) return listed(messages, 'messages')
  if (Array.isArray(choices))
    return listed(choices, 'choices').flatMap(([path, choice]): [string, unknown][] =>
      fieldsOf(choice).message === undefined ? [] : [[`${path}.message`, fieldsOf(choice).message]],
    )
  if (message !== undefined) return [[`${name}.message`, message]]
  return role === undefined ? [] : [[name, holder]]
}

type Report = (path: string, message: string) => void

function checkMessage(value: unknown, path: string, calls: Calls, report: Report): void {
  const message = Array.isArray(value) && value.length === 2 ? { role: value[0], content: value[1] } : value
  if (!isRecord(message)) {
    report(path, 'Is not a message: `role` and `content` are required.')
    return
  }
  const { role, content, tool_calls, tool_call_id, refusal, audio, function_call } = message as Fields
  if (!ROLES.includes(role as string))
    report(
      `${path}.role`,
      `Is ${JSON.stringify(role) ?? 'missing'}, which is not a role. Roles are system, reasoning, user, assistant and tool.`,
    )
  checkToolCallId(role, tool_call_id, path, calls, report)
  if (Array.isArray(content))
    for (const [at, block] of content.entries()) checkBlock(block, `${path}.content[${at}]`, calls, report)
  else if (typeof content !== 'string' && (content || !(tool_calls ?? function_call ?? refusal ?? audio)))
    report(`${path}.content`, 'Is neither a list of blocks nor a string.')
  if (role === 'assistant' && Array.isArray(tool_calls))
    for (const [at, call] of tool_calls.map(fieldsOf).entries()) {
      calls.own.add(call.id)
      if (![call, call.function, call.custom].some((holder) => isId(fieldsOf(holder).name)))
        report(`${path}.tool_calls[${at}]`, 'Is a tool call without a name.')
    }
}

function checkToolCallId(role: unknown, id: unknown, path: string, { own }: Calls, report: Report): void {
  const at = `${path}.tool_call_id`
  if (role !== 'tool') {
    if (id !== undefined && id !== null)
      report(
        at,
        `Is set on a message with the role ${JSON.stringify(role)}. Only \`tool\` messages answer a call.`,
      )
  } else if (!isId(id)) report(at, 'Is missing: the result cannot be shown with its call.')
  else if (!own.has(id))
    report(at, `Is ${JSON.stringify(id)}, but no earlier assistant message made this call.`)
}

function checkBlock(value: unknown, path: string, calls: Calls, report: Report): void {
  if (typeof value === 'string') return
  if (!isRecord(value)) {
    report(path, 'Is not a block: `type` is required.')
    return
  }
  const type = String(value.type)
  if (type === 'tool_call' || type === 'tool_use') calls.own.add(value.id)
  if (type === 'server_tool_call') calls.server.add(value.id)
  if (type === 'tool_result') return
  const required = Object.hasOwn(REQUIRED, type) ? REQUIRED[type]! : undefined
  if (!required) {
    if (!FOREIGN.test(type))
      report(
        `${path}.type`,
        `Is ${JSON.stringify(value.type) ?? 'missing'}, which is not a block type. Keep unknown content in the \`extras\` of a text block.`,
      )
    return
  }
  for (const [field, fits] of Object.entries(required))
    if (!fits(value[field]))
      report(`${path}.${field}`, `A ${type} block requires it, and it is missing or has the wrong type.`)
  if (MEDIA.includes(type) && ![value.url, value.base64, value.id, value.source, value.file].some(Boolean))
    report(path, `The ${type} has no source: set \`url\`, \`base64\` or \`id\`.`)
  if (
    type === 'server_tool_result' &&
    isId(value.tool_call_id) &&
    ![calls.server, calls.own].some((ids) => ids.has(value.tool_call_id))
  )
    report(
      `${path}.tool_call_id`,
      `Is ${JSON.stringify(value.tool_call_id)}, which is not the id of an earlier call.`,
    )
}
