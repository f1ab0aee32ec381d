import * as z from 'zod/mini'
import { InvalidValue, parse, type Read, type Schema } from '../../face/parse.ts'
import { map, nonEmpty, refuse, textOf, whole } from '../../face/schema.ts'
import { A2AError } from '../errors.ts'

/** Reads the params of a method. Throws `invalid_params` and names the wrong field, such as `params.message.parts[0].text`. */
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

/** Clients send an empty string for what is not set: those of ProtoJSON for every field, old ones of LangGraph for ids. */
export const text = z.optional(map(z.string(), (value) => value || undefined))

export const strings = z.optional(map(z.array(z.string()), (values) => (values.length ? values : undefined)))

export const historyLength = z.optional(whole(0))

export const historyScope = z.optional(z.enum(['task', 'context']))

/** An address. Those of files are refused: an agent that opens them would read its own machine. */
export const uri = map(nonEmpty, (text, payload) =>
  URL.canParse(text) && new URL(text).protocol === 'file:'
    ? refuse(payload, 'an address that is not one of a file, such as https://example.com/a.pdf')
    : text,
)

/** The alphabet is searched for a wrong character, which needs no second copy of a large file as decoding it would. */
export const base64 = textOf(
  'base64 of the standard alphabet with padding',
  (text) => text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, '')),
)
