import {
  InvalidValue,
  list,
  map,
  nonEmpty,
  oneOf,
  optional,
  refuse,
  type Schema,
  string,
  whole,
} from '../../face/schema.ts'
import { A2AError } from '../errors.ts'
import type { HistoryScope } from '../model.ts'

/** Reads the params of a method. Throws `invalid_params` and names the wrong field, such as `params.message.parts[0].text`. */
export function readParams<T>(schema: Schema<T>, params: unknown): T {
  try {
    return schema(params, 'params')
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    const field = fieldAt(error.path)
    throw new A2AError('invalid_params', `${field}: expected ${error.expected}.`, { field })
  }
}

const fieldAt = (path: string): string => path.replace(/\.(\d+)/g, '[$1]')

/** The error of a part that this dialect has no kind for. */
export function unsupportedPart(path: string, expected: string): never {
  const field = fieldAt(path)
  throw new A2AError('content_type_not_supported', `${field}: expected ${expected}.`, { field })
}

/** Clients send an empty string for what is not set: those of ProtoJSON for every field, old ones of LangGraph for ids. */
export const text = map(optional(string), (value) => value || undefined)

export const strings = map(optional(list(string)), (values) => (values?.length ? values : undefined))

export const historyLength = optional(whole(0))

export const historyScope: Schema<HistoryScope | undefined> = optional(oneOf('task', 'context'))

/** An address. Those of files are refused: an agent that opens them would read its own machine. */
export const uri: Schema<string> = (value, path = '') => {
  const text = nonEmpty(value, path)
  const isFile = URL.canParse(text) && new URL(text).protocol === 'file:'
  return isFile
    ? refuse(path, 'an address that is not one of a file, such as https://example.com/a.pdf')
    : text
}

/** The alphabet is searched for a wrong character, which needs no second copy of a large file as decoding it would. */
export const base64: Schema<string> = (value, path = '') =>
  typeof value === 'string' && value.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(value.replace(/={1,2}$/, ''))
    ? value
    : refuse(path, 'base64 of the standard alphabet with padding')
