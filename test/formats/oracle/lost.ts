import type { ContentBlock, Message, ToolCallBlock } from '../../../src/messages/index.ts'

/**
 * Says what a request no longer has: texts of the user and of the assistant, calls with their results, and
 * proofs of thoughts that start with the prefix.
 */
export function lostOf(messages: readonly Message[], request: unknown, proof?: string): string[] {
  const { texts, objects } = leavesOf(request)
  const all = wellFormed(texts.join('\n'))
  const left = objects.map(canonical)
  const lost: string[] = []
  const need = (kind: string, text: string) => {
    const found =
      all.includes(wellFormed(text).trim()) ||
      leavesOf(text).objects.some((value) => left.includes(canonical(value)))
    if (!found) lost.push(`${kind} ${JSON.stringify(text)}`)
  }
  messages.forEach(({ role, content }, index) => {
    if (role === 'user' || role === 'assistant')
      for (const block of content) if (block.type === 'text') need(`${role} text`, block.text)
    if (role !== 'assistant') return
    const answers = answersOf(messages, index)
    content.forEach((block, place) => {
      if (block.type === 'toolCall' && isAnswered(block, content, answers)) {
        const at = left.indexOf(canonical(block.args))
        if (at < 0 && isCustom(block)) need(`call ${block.name} with`, block.args.input)
        else if (at < 0) lost.push(`call ${block.name} with ${JSON.stringify(block.args)}`)
        else left.splice(at, 1)
      }
      if (proof !== undefined && block.type !== 'nonStandard' && isFollowed(content, place, answers))
        for (const text of leavesOf(block.extras).texts) if (text.startsWith(proof)) need('proof', text)
    })
    for (const { content, toolCallId } of answers)
      if (
        calls(messages[index]!.content).some(
          (call) => call.id === toolCallId && isAnswered(call, messages[index]!.content, answers),
        )
      )
        for (const block of content) if (block.type === 'text') need('result', block.text)
  })
  return lost
}

/** The text without halves of characters and what stands for them. */
const wellFormed = (text: string): string => Buffer.from(text).toString().replaceAll('\ufffd', '')

/** Whether a call has text for arguments, which our readers keep as `input`. */
const isCustom = (
  call: ToolCallBlock,
): call is ToolCallBlock & { readonly args: { readonly input: string } } =>
  /^custom/.test(String(call.extras?.type)) && typeof call.args.input === 'string'

/** The results that stand right after a message. */
function answersOf(messages: readonly Message[], index: number): readonly Message[] {
  const rest = messages.slice(index + 1)
  return rest.slice(0, rest.findIndex(({ role }) => role !== 'tool') >>> 0)
}

const calls = (content: readonly ContentBlock[]): ToolCallBlock[] =>
  content.filter((block) => block.type === 'toolCall')

/** Whether a call has a name, an id and as many results as there are calls with that id. */
function isAnswered(
  { id, name }: ToolCallBlock,
  content: readonly ContentBlock[],
  answers: readonly Message[],
): boolean {
  const asked = content.filter((block) => /ToolCall|toolCall/.test(block.type) && block.id === id)
  const given = [
    ...answers.filter(({ toolCallId }) => toolCallId === id),
    ...content.filter((block) => block.type === 'serverToolResult' && block.toolCallId === id),
  ]
  return !!id && name.trim() !== '' && given.length === asked.length
}

/** Whether something stays of the message after the block: no provider takes a thought at the end. */
const isFollowed = (content: readonly ContentBlock[], place: number, answers: readonly Message[]): boolean =>
  content
    .slice(place)
    .some(
      (block) =>
        (block.type === 'text' && block.text.trim() !== '') ||
        (block.type === 'toolCall' && isAnswered(block, content, answers)),
    )

/** All texts and objects of a value, also those in JSON text. */
function leavesOf(value: unknown): { texts: string[]; objects: object[] } {
  const texts: string[] = []
  const objects: object[] = []
  const visit = (value: unknown): void => {
    if (typeof value === 'string') {
      texts.push(value)
      if (/^\s*[{[]/.test(value))
        try {
          visit(JSON.parse(value))
        } catch {}
    } else if (Array.isArray(value)) value.forEach(visit)
    else if (typeof value === 'object' && value !== null) {
      objects.push(value)
      Object.values(value).forEach(visit)
    }
  }
  visit(value)
  return { texts, objects }
}

/** JSON text with sorted keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([one], [other]) => (one < other ? -1 : 1)))
      : field,
  )
