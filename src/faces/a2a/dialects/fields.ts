import * as z from 'zod/mini'
import { InvalidValue, parse, type Read, type Schema } from '../../kit/parse.ts'
import { integer, map, nonEmpty, refuse, textOf } from '../../kit/schema.ts'
import { A2AError } from '../errors.ts'

/**
 * Parses the params of a method. Throws `invalid_params` with the path of the invalid field, such as
 * `params.message.parts[0].text`.
 */
export function readParams<S extends Schema>(schema: S, params: unknown): Read<S> {
  try {
    return parse(schema, params, 'params')
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    const field = error.path.replace(/\.(\d+)/g, '[$1]')
    const code = error.params?.unsupported ? 'content_type_not_supported' : 'invalid_params'
    throw new A2AError(code, `${field}: expected ${error.expected}.`, { field })
  }
}

/**
 * Clients send an empty string for an unset value: ProtoJSON clients for every field, old LangGraph clients
 * for ids.
 */
export const text = z.optional(map(z.string(), (value) => value || undefined))

export const strings = z.optional(map(z.array(z.string()), (values) => (values.length ? values : undefined)))

export const historyLength = z.optional(integer(0))

export const historyScope = z.optional(z.enum(['task', 'context']))

/** A URL. File URLs are rejected: an agent that opened one would read its own machine. */
export const uri = map(nonEmpty, (text, payload) =>
  URL.canParse(text) && new URL(text).protocol === 'file:'
    ? refuse(payload, 'a URL that is not a file: URL, such as https://example.com/a.pdf')
    : text,
)

/** Searches for an invalid character, which, unlike decoding, needs no second copy of a large file. */
export const base64 = textOf(
  'base64 in the standard alphabet with padding',
  (text) => text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, '')),
)
