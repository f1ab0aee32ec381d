import type * as z from 'zod/mini'
import { hold } from '../check.ts'

/** Loads Zod with the first value that is checked. */
const schemas = () => import('./wire.ts')

export type ShapedMethod = keyof Awaited<ReturnType<typeof schemas>>['data']

function fits(what: string, schema: z.ZodMiniType, value: unknown): void {
  const issue = schema.safeParse(value).error?.issues[0]
  if (!issue) return
  const keys = issue.path.filter((key) => typeof key === 'string').toReversed()
  hold(what, false, [issue.message, ...keys].join(' in '), value)
}

/** Checks the fields that every event needs. */
export const isEnvelope = async (sent: unknown): Promise<void> =>
  fits('an event', (await schemas()).event, sent)

/** Checks the data of an event. */
export const isData = async (method: ShapedMethod, data: unknown): Promise<void> =>
  fits(`the data of a ${method} event`, (await schemas()).data[method], data)

/** Checks a state of a thread. */
export const isState = async (value: unknown): Promise<void> =>
  fits('a state', (await schemas()).state, value)

/** Checks a message of a state. */
export const isFlatMessage = async (value: unknown): Promise<void> =>
  fits('a message of the state', (await schemas()).message, value)
