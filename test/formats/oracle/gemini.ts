import { at, type Fields, fieldsOf, hasText, isBase64, isFields, schemaOf, unique, wire } from './schema.ts'

const schema = schemaOf('gemini')

/** What `generateContent` refuses. The sentences are its own, as people quote them. */
export function geminiRefusals(sent: unknown): string[] {
  const request = wire(sent)
  const refused = schema(request)
  if (!isFields(request)) return refused
  const refuse = (path: string, sentence: string) => refused.push(`${path}: ${sentence}`)
  const contents = fieldsOf(request.contents)
  if (contents.length === 0) refuse('contents', 'contents is not specified')
  if (isFields(request.systemInstruction)) {
    checkParts(request.systemInstruction, 'systemInstruction', refuse)
    for (const part of fieldsOf(request.systemInstruction.parts))
      if (part.text === undefined) refuse('systemInstruction', 'only text is supported')
  }
  const turn = contents.findLastIndex(
    ({ role, parts }) => role === 'user' && fieldsOf(parts).some(({ functionResponse }) => !functionResponse),
  )
  contents.forEach((content, index) => {
    const path = at('contents', index)
    const { role } = content
    if (role !== 'user' && role !== 'model') refuse(`${path}.role`, 'Please use a valid role: user, model.')
    checkParts(content, path, refuse)
    checkTurn(contents, index, path, refuse)
    const [first] = partsWith(content, 'functionCall')
    if (index > turn && first && !hasText(first.thoughtSignature))
      refuse(path, 'Function call is missing a thought_signature in functionCall parts.')
  })
  return unique(refused)
}

type Refuse = (path: string, sentence: string) => void

const DATA = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
]

const MIME = /^[\w.+-]+\/[\w.+-]+$/

function checkParts({ parts }: Fields, path: string, refuse: Refuse): void {
  if (fieldsOf(parts).length === 0) refuse(path, 'contents.parts must not be empty.')
  fieldsOf(parts).forEach((part, index) => {
    const own = `${path}.parts[${index}]`
    const { text, inlineData, fileData, functionCall, functionResponse, thoughtSignature } = part
    const given = DATA.filter((field) => part[field] !== undefined)
    if (given.length === 0) refuse(own, "required oneof field 'data' must have one initialized field")
    if (given.length > 1) refuse(own, "oneof field 'data' is already set. Cannot set another")
    // A signature may stand alone, on an empty text.
    if (text === '' && thoughtSignature === undefined)
      refuse(own, 'Unable to submit request because it must have a text parameter')
    if (thoughtSignature !== undefined && !isBase64Url(thoughtSignature))
      refuse(`${own}.thought_signature`, 'Base64 decoding failed')
    if (isFields(inlineData)) {
      if (!isBase64(inlineData.data)) refuse(`${own}.inline_data`, 'Base64 decoding failed')
      if (!MIME.test(String(inlineData.mimeType)))
        refuse(`${own}.inline_data`, 'Unable to determine mimeType for provided inline data')
    }
    if (isFields(fileData)) {
      if (!/^(https|gs):\/\/./.test(String(fileData.fileUri)))
        refuse(`${own}.file_data`, 'Unsupported file URI type')
      if (fileData.mimeType !== undefined && !MIME.test(String(fileData.mimeType)))
        refuse(`${own}.file_data`, 'Unsupported MIME type')
    }
    if (isFields(functionCall) && !NAME.test(String(functionCall.name ?? '')))
      refuse(`${own}.function_call.name`, 'Invalid function name')
    if (isFields(functionResponse)) {
      if (!NAME.test(String(functionResponse.name ?? '')))
        refuse(`${own}.function_response.name`, 'Name cannot be empty.')
      if (!isFields(functionResponse.response))
        refuse(
          `${own}.function_response.response`,
          'Invalid value at response (type.googleapis.com/google.protobuf.Struct)',
        )
    }
  })
}

const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/

const isBase64Url = (text: unknown): boolean =>
  typeof text === 'string' && text !== '' && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text)

const partsWith = ({ parts }: Fields, field: string): Fields[] =>
  fieldsOf(parts).filter((part) => isFields(part[field]))

/** Calls come after the user or after results, and the next turn has a result for each. */
function checkTurn(contents: readonly Fields[], index: number, path: string, refuse: Refuse): void {
  const content = contents[index]!
  const [before, after] = [contents[index - 1], contents[index + 1]]
  const calls = partsWith(content, 'functionCall')
  const responses = partsWith(content, 'functionResponse')
  if (calls.length > 0) {
    if (content.role !== 'model') refuse(path, 'function_call parts are allowed in model turns only')
    if (before?.role !== 'user')
      refuse(
        path,
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      )
    if (!after || partsWith(after, 'functionResponse').length !== calls.length)
      refuse(
        path,
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
  }
  if (responses.length === 0) return
  if (content.role === 'model') refuse(path, 'function_response parts are allowed in user turns only')
  const asked = before ? partsWith(before, 'functionCall') : []
  if (asked.length === 0)
    refuse(path, 'Please ensure that function response turn comes immediately after a function call turn.')
  const names = (list: readonly Fields[], field: string) =>
    list
      .map((part) => (part[field] as Fields).name)
      .sort()
      .join()
  if (names(asked, 'functionCall') !== names(responses, 'functionResponse'))
    refuse(path, 'The name of a function response must be that of its function call.')
}
