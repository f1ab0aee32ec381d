import type { JsonSchema } from '../../agents/description.ts'
import type { OpenInterrupt } from '../../engine/index.ts'
import { isRecord } from '../../messages/record.ts'
import { type Approval, approvalsOf, promptText } from '../kit/reading/approvals.ts'
import type { Fields } from './options.ts'
import { checkOf } from './schemas.ts'

/** An interrupt as a form for a client: a flat object of strings, numbers, booleans and choices. */
export interface Form {
  readonly message: string
  readonly schema: JsonSchema
  /** The response to the interrupt, or undefined if the content does not fit the form. */
  answerOf(content: Fields): { readonly answer: unknown } | undefined
  /** The response if the user declines. Absent if only the caller can decide. */
  readonly declined?: { readonly answer: unknown } | undefined
}

/** An open question, with the key that a client answers it by. */
export interface Question {
  readonly key: string
  readonly id: string
  readonly form: Form
}

/** The questions of a result. A form may name its key. Default: the interrupt id. */
export const questionsOf = (open: readonly OpenInterrupt[]): readonly Question[] =>
  open.map(({ id, value }) => {
    const { key } = Object(value) as Fields
    return { id, key: isForm(value) && typeof key === 'string' ? key : id, form: formOf(value) }
  })

/** Whether an interrupt is already an MCP form: `{ message, requestedSchema }`. */
const isForm = (
  value: unknown,
): value is { readonly message: string; readonly requestedSchema: JsonSchema } =>
  isRecord(value) && typeof value.message === 'string' && isRecord(value.requestedSchema)

export function formOf(value: unknown): Form {
  const approvals = approvalsOf(value)
  if (approvals) return approvalForm(approvals)
  if (isForm(value))
    return {
      message: value.message,
      schema: value.requestedSchema,
      answerOf: (content) => ({ answer: { action: 'accept', content } }),
      declined: { answer: { action: 'decline' } },
    }
  return {
    message: promptText(value),
    schema: {
      type: 'object',
      properties: { answer: { type: 'string', title: 'Answer' } },
      required: ['answer'],
    },
    answerOf: ({ answer }) => ({ answer }),
  }
}

/** A choice for each action, with the fields that a rejection or an edit needs. */
function approvalForm(approvals: readonly Approval[]): Form {
  const of = (name: string, { index }: Approval): string =>
    approvals.length > 1 ? `${name}_${index + 1}` : name
  const fields = approvals.flatMap((approval): readonly (readonly [string, JsonSchema])[] => {
    const { name, args, allowedDecisions: allowed } = approval
    const takesText = allowed.some((one) => one === 'reject' || one === 'respond')
    return [
      [of('decision', approval), { type: 'string', title: name, enum: allowed }],
      ...(takesText
        ? [[of('message', approval), { type: 'string', title: 'Message, where it is not approved' }] as const]
        : []),
      ...(allowed.includes('edit')
        ? [
            [
              of('args', approval),
              { type: 'string', title: 'Arguments as JSON, to edit', default: JSON.stringify(args) },
            ] as const,
          ]
        : []),
    ]
  })
  return {
    message: approvals
      .map(({ name, args, description }) => description ?? `${name} ${JSON.stringify(args)}`)
      .join('\n\n'),
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields),
      required: approvals.map((approval) => of('decision', approval)),
    },
    answerOf(content) {
      const decisions = approvals.map((approval) => {
        const type = content[of('decision', approval)]
        const message = content[of('message', approval)]
        if (type !== 'edit')
          return { type, ...(type !== 'approve' && typeof message === 'string' && { message }) }
        const args = jsonObject(content[of('args', approval)])
        return args && { type, editedAction: { name: approval.name, args } }
      })
      return decisions.includes(undefined) ? undefined : { answer: { decisions } }
    },
    ...(approvals.every(({ allowedDecisions }) => allowedDecisions.includes('reject')) && {
      declined: { answer: { decisions: approvals.map(() => ({ type: 'reject' })) } },
    }),
  }
}

function jsonObject(text: unknown): Fields | undefined {
  try {
    const value: unknown = JSON.parse(String(text))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Questions as the input requests that the client must fulfil. */
export const inputRequestsOf = (questions: readonly Question[]): Fields =>
  Object.fromEntries(
    questions.map(({ key, form: { message, schema } }) => [
      key,
      { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema: schema } },
    ]),
  )

export interface Responses {
  /** By interrupt id. Questions without a valid response are missing. */
  readonly answers: Readonly<Record<string, unknown>>
  /** What the user did instead of responding. */
  readonly refused?: 'declined' | 'cancelled' | undefined
}

/** The client's responses to the input requests. Unknown keys are ignored. */
export function readResponses(questions: readonly Question[], responses: Fields = {}): Responses {
  const answers: Record<string, unknown> = {}
  let refused: Responses['refused']
  for (const { key, id, form } of questions) {
    const { action, content } = Object(Object.hasOwn(responses, key) ? responses[key] : undefined) as Fields
    const given =
      action === 'decline' ? form.declined : action === 'accept' ? readAnswer(form, content) : undefined
    if (given) answers[id] = given.answer
    else if (action === 'decline') refused = 'declined'
    else if (action === 'cancel') refused = 'cancelled'
  }
  return { answers, refused }
}

/** The response that a form's content stands for. Undefined if it does not fit the form. */
export function readAnswer(form: Form, content: unknown): { readonly answer: unknown } | undefined {
  try {
    checkOf(form.schema)(content)
  } catch {
    return undefined
  }
  return isRecord(content) ? form.answerOf(content) : undefined
}
