import { at, fieldsOf, isBase64, isFields, schemaOf, unique, wire } from './schema.ts'

const schema = schemaOf('ollama')

/* The server ignores fields that it does not know; these it knows though the types of its client lack them. */
const KNOWN = /^messages\[\d+\]\.(tool_call_id|tool_calls\[\d+\]\.(id|function\.index)): Extra inputs/

/** What `/api/chat` of Ollama refuses. The sentences are its own, as people quote them. */
export function ollamaRefusals(sent: unknown): string[] {
  const request = wire(sent)
  const refused = schema(request).filter((sentence) => !KNOWN.test(sentence))
  if (!isFields(request)) return refused
  const refuse = (path: string, sentence: string) => refused.push(`${path}: ${sentence}`)
  fieldsOf(request.messages).forEach(({ role, images, tool_calls }, index) => {
    const path = at('messages', index)
    if (!/^(system|user|assistant|tool)$/.test(String(role)))
      refuse(path, 'invalid role, must be one of [system, user, assistant, tool]')
    if (Array.isArray(images) && !images.every(isBase64)) refuse(`${path}.images`, 'illegal base64 data')
    fieldsOf(tool_calls).forEach((call, place) => {
      if (isFields(call.function) && !isFields(call.function.arguments))
        refuse(
          `${path}.tool_calls[${place}]`,
          'json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments',
        )
    })
  })
  return unique(refused)
}
