import type { MediaBlock, ToolCallBlock } from '../../../messages/index.ts'
import { fieldsOf, listOf } from '../reading/fields.ts'
import { dropUndefined, nonEmpty, urlOf } from '../writing/fields.ts'
import type { PreparedMessage } from './thread.ts'
import { isFilled, joinTexts } from './write.ts'

export type Item = Record<string, unknown>

/** Whether an id is that of an item of a kind, which starts with the kind. */
export const isItemId = (id: unknown, prefix: string): id is string =>
  typeof id === 'string' && id.startsWith(prefix) && /^[A-Za-z0-9_]{1,64}$/.test(id)

/**
 * A call of the model as an item of Responses: of a function, of a custom tool, or of one of the tools that
 * have items of their own. Such an item needs a result of its own kind, and is written as a function otherwise.
 */
export function writeToolCall(call: ToolCallBlock, result: PreparedMessage | undefined): Item {
  const { id: call_id, name, args, extras = {} } = call
  const { type, item_id } = extras
  const idOf = (prefix: string) => (isItemId(item_id, prefix) ? item_id : undefined)
  switch (type) {
    case 'custom_tool_call':
    case 'custom':
      if (typeof args.input === 'string')
        return dropUndefined({ type: 'custom_tool_call', id: idOf('ctc_'), call_id, name, input: args.input })
      break
    case 'computer_call':
      if (idOf('cu_') && result && screenshotOf(result)) {
        const { action, actions, pending_safety_checks = [] } = args
        const done = { action, actions, pending_safety_checks, status: 'completed' }
        return dropUndefined({ type, id: item_id, call_id, ...done })
      }
      break
    case 'local_shell_call':
      if (idOf('lsh_') && fieldsOf(args.action).command)
        return { type, id: item_id, call_id, action: args.action, status: 'completed' }
      break
    case 'shell_call':
      if (fieldsOf(args.action).commands)
        return dropUndefined({ type, id: idOf('sh_'), call_id, action: args.action, status: 'completed' })
      break
    case 'tool_search_call':
      if (extras.execution === 'client')
        return dropUndefined({ type, id: idOf('tsc_'), call_id, execution: 'client', arguments: args })
      break
    case 'apply_patch_call':
      if (args.operation)
        return dropUndefined({
          type,
          id: idOf('apc_'),
          call_id,
          operation: args.operation,
          status: 'completed',
        })
      break
  }
  return dropUndefined({
    type: 'function_call',
    id: idOf('fc_'),
    call_id,
    name,
    arguments: JSON.stringify(args),
    namespace: isFilled(extras.namespace) ? extras.namespace : undefined,
  })
}

/** The result of a call, as the kind of the call asks for it. */
export function writeToolOutput(call: Item | undefined, message: PreparedMessage, output: unknown): Item {
  const { content, toolCallId: call_id, status, extras } = message
  const text = joinTexts(message)
  const given = content.flatMap((block) => (block.type === 'nonStandard' ? [block.value] : []))
  switch (call?.type) {
    case 'custom_tool_call':
      return { type: 'custom_tool_call_output', call_id, output }
    case 'computer_call':
      return dropUndefined({
        type: 'computer_call_output',
        call_id,
        output: screenshotOf(message),
        acknowledged_safety_checks: nonEmpty(listOf(extras?.acknowledged_safety_checks)),
      })
    case 'local_shell_call':
      return { type: 'local_shell_call_output', id: call_id, output: text }
    case 'tool_search_call':
      return { type: 'tool_search_output', call_id, execution: 'client', tools: given.filter(isTool) }
    case 'shell_call': {
      const failed = status === 'error'
      const outcome = { type: 'exit', exit_code: failed ? 1 : 0 }
      const [stdout, stderr] = failed ? ['', text] : [text, '']
      const said = given.some(isShellOutput)
        ? given.filter(isShellOutput).map(shellOutputOf)
        : [{ stdout, stderr, outcome }]
      return { type: 'shell_call_output', call_id, output: said }
    }
    case 'apply_patch_call': {
      const failed = status === 'error' || extras?.status === 'failed'
      return {
        type: 'apply_patch_call_output',
        call_id,
        status: failed ? 'failed' : 'completed',
        output: text,
      }
    }
    default:
      return { type: 'function_call_output', call_id, output }
  }
}

/** Whether a value is a tool that a search has found. */
export function isTool(value: unknown): boolean {
  const { type, name } = fieldsOf(value)
  return type === 'function' && isFilled(name)
}

/** Whether a value is what a command wrote. */
export function isShellOutput(value: unknown): boolean {
  const { stdout, stderr } = fieldsOf(value)
  return typeof stdout === 'string' || typeof stderr === 'string'
}

function shellOutputOf(value: unknown): Item {
  const { stdout = '', stderr = '', outcome = { type: 'exit', exit_code: 0 } } = fieldsOf(value)
  return { stdout, stderr, outcome }
}

function screenshotOf({ content }: PreparedMessage): Item | undefined {
  const image = content.find(({ type }) => type === 'image') as MediaBlock | undefined
  if (!image) return undefined
  return dropUndefined({
    type: 'computer_screenshot',
    ...(image.fileId ? { file_id: image.fileId } : { image_url: urlOf(image) }),
  })
}
