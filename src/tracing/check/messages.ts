import { isRecord } from '../../messages/record.ts'
import type { Finding } from './finding.ts'

type Fields = Readonly<Record<string, unknown>>

/** Those of the platform, and the two more that chat completions have. */
const ROLES = ['system', 'reasoning', 'user', 'assistant', 'tool', 'developer', 'function']

const isText = (value: unknown) => typeof value === 'string'
const isId = (value: unknown) => typeof value === 'string' && value !== ''

/** What the blocks of the platform must have. */
const REQUIRED: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  text: { text: isText },
  reasoning: { text: isText },
  image: {},
  file: {},
  audio: {},
  video: {},
  tool_call: { args: isRecord },
  server_tool_call: { id: isId, name: isText, args: isRecord },
  server_tool_result: { tool_call_id: isId, status: (value) => value === 'success' || value === 'error' },
}
const MEDIA = ['image', 'file', 'audio', 'video']

/** Blocks of the two providers' formats that are taken as well. */
const FOREIGN =
  /^(image_url|input_audio|refusal|thinking|redacted_thinking|tool_use|tool_result|document|server_tool_use|\w+_tool_result)$/

/** The ids that calls had so far. */
interface Calls {
  readonly own: Set<unknown>
  readonly server: Set<unknown>
}

/** What is wrong with the messages of a run, input first. */
export function checkMessages(inputs: unknown, outputs: unknown): Finding[] {
  const findings: Finding[] = []
  const calls: Calls = { own: new Set(), server: new Set() }
  for (const [path, value] of [...messagesIn(inputs, 'inputs'), ...messagesIn(outputs, 'outputs')])
    checkMessage(value, path, calls, (at, message) => void findings.push({ path: at, message }))
  return findings
}

function messagesIn(holder: unknown, name: string): [path: string, message: unknown][] {
  if (Array.isArray(holder)) return [[name, { role: holder[0] as unknown, content: holder[1] as unknown }]]
  if (!isRecord(holder)) return []
  const { messages, choices, message, role } = holder
  const listed = (list: readonly unknown[], key: string) =>
    list.map((item, at): [string, unknown] => [`${name}.${key}[${at}]`, item])
  if (Array.isArray(messages)) return listed(messages, 'messages')
  if (Array.isArray(choices))
    return listed(choices, 'choices').flatMap(([path, choice]): [string, unknown][] =>
      isRecord(choice) && choice.message !== undefined ? [[`${path}.message`, choice.message]] : [],
    )
  if (message !== undefined) return [[`${name}.message`, message]]
  return role === undefined ? [] : [[name, holder]]
}

type Tell = (path: string, message: string) => void

function checkMessage(value: unknown, path: string, calls: Calls, tell: Tell): void {
  const message = Array.isArray(value) && value.length === 2 ? { role: value[0], content: value[1] } : value
  if (!isRecord(message)) {
    tell(path, 'Is no message: it needs `role` and `content`.')
    return
  }
  const { role, content, tool_calls, tool_call_id } = message as Fields
  if (!ROLES.includes(role as string))
    tell(
      `${path}.role`,
      `Is ${JSON.stringify(role) ?? 'missing'}, which is no role. Roles are system, reasoning, user, assistant and tool.`,
    )
  checkToolCallId(role, tool_call_id, path, calls, tell)
  if (Array.isArray(content))
    for (const [at, block] of content.entries()) checkBlock(block, `${path}.content[${at}]`, calls, tell)
  else if (typeof content !== 'string' && !(tool_calls && !content))
    tell(`${path}.content`, 'Is neither a list of blocks nor a text.')
  if (role === 'assistant' && Array.isArray(tool_calls))
    for (const call of tool_calls) if (isRecord(call)) calls.own.add(call.id)
}

function checkToolCallId(role: unknown, id: unknown, path: string, { own }: Calls, tell: Tell): void {
  const at = `${path}.tool_call_id`
  if (role !== 'tool') {
    if (id !== undefined && id !== null)
      tell(
        at,
        `Stands on a message of the role ${JSON.stringify(role)}. Only \`tool\` messages answer a call.`,
      )
  } else if (!isId(id)) tell(at, 'Is missing: the result cannot be shown beside its call.')
  else if (!own.has(id)) tell(at, `Is ${JSON.stringify(id)}, which no earlier assistant message has called.`)
}

function checkBlock(value: unknown, path: string, calls: Calls, tell: Tell): void {
  if (typeof value === 'string') return
  if (!isRecord(value)) {
    tell(path, 'Is no block: it needs a `type`.')
    return
  }
  const type = String(value.type)
  if (type === 'tool_call' || type === 'tool_use') calls.own.add(value.id)
  if (type === 'server_tool_call') calls.server.add(value.id)
  if (type === 'tool_result') return
  const required = Object.hasOwn(REQUIRED, type) ? REQUIRED[type]! : undefined
  if (!required) {
    if (!FOREIGN.test(type))
      tell(
        `${path}.type`,
        `Is ${JSON.stringify(value.type) ?? 'missing'}, which is no block. Keep what is unknown in the \`extras\` of a text block.`,
      )
    return
  }
  for (const [field, fits] of Object.entries(required))
    if (!fits(value[field]))
      tell(`${path}.${field}`, `A ${type} block needs it, and it is missing or not of its kind.`)
  if (MEDIA.includes(type) && ![value.url, value.base64, value.id, value.source, value.file].some(Boolean))
    tell(path, `The ${type} has no source: it needs \`url\`, \`base64\` or \`id\`.`)
  if (
    type === 'server_tool_result' &&
    isId(value.tool_call_id) &&
    ![calls.server, calls.own].some((ids) => ids.has(value.tool_call_id))
  )
    tell(`${path}.tool_call_id`, `Is ${JSON.stringify(value.tool_call_id)}, which no earlier call has.`)
}
