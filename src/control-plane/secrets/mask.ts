import { toBase64 } from '../../core/bytes.ts'

/** Replaces a secret in a text. */
export const MASK = '***'

/** Shorter values occur in too many words. */
const MIN_LENGTH = 4
/** The shortest part of an encoded value that is searched for. */
const MIN_ENCODED_LENGTH = 8

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * Replaces all occurrences of the values with `***`: as they are, line by line for multi-line values, and in
 * their JSON, base64, percent-encoded and form-encoded forms, also within a longer encoded text. Values and
 * lines of fewer than 4 characters are not replaced.
 */
export function maskSecrets(values: Iterable<string>): (text: string) => string {
  const forms = new Set([...values].flatMap(formsOf))
  if (forms.size === 0) return (text) => text
  const longestFirst = [...forms].sort((a, b) => b.length - a.length)
  // A look-ahead, so that a value is also found if another one starts inside it or overlaps its start.
  const pattern = new RegExp(`(?=(${longestFirst.map(escaped).join('|')}))`, 'g')

  return (text) => {
    let masked = ''
    /** The position of the text that is not yet in `masked`. */
    let at = 0
    let end = -1
    for (const { index, 1: found } of text.matchAll(pattern)) {
      if (index > end) {
        masked += text.slice(at, index) + MASK
        end = index + found!.length
      } else {
        end = Math.max(end, index + found!.length)
      }
      at = end
    }
    return masked + text.slice(at)
  }
}

/** All forms of a secret value to search for. */
function formsOf(value: string): string[] {
  const plain = [value, value.trim(), ...value.split(/\r\n|\r|\n/).map((line) => line.trim())]
  const kept = plain.filter((text) => text.length >= MIN_LENGTH)
  return kept.flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    ...percentEncoded(text),
    ...base64Parts(text),
  ])
}

function percentEncoded(text: string): string[] {
  // `encodeURIComponent` throws for lone surrogates, which no encoding can send.
  const wellFormed = decoder.decode(encoder.encode(text))
  const component = encodeURIComponent(wellFormed)
  const form = new URLSearchParams({ '': wellFormed }).toString().slice(1)
  return [component, form, form.replaceAll('+', '%20')].flatMap((encoded) => [
    encoded,
    encoded.replace(/%../g, (byte) => byte.toLowerCase()),
  ])
}

/**
 * The value's base64, and the part that is the same wherever it is encoded in a longer text: that depends on
 * the number of bytes before it, modulo three.
 */
function base64Parts(text: string): string[] {
  const bytes = encoder.encode(text)
  const whole = toBase64(bytes)
  const parts = [0, 1, 2].map((before) => {
    const shifted = new Uint8Array(before + bytes.length)
    shifted.set(bytes, before)
    const start = Math.ceil((before * 8) / 6)
    return toBase64(shifted).slice(start, Math.floor((shifted.length * 8) / 6))
  })
  return [whole, whole.replace(/(?<!=)=+$/, ''), ...parts]
    .filter(({ length }) => length >= MIN_ENCODED_LENGTH)
    .flatMap((part) => [part, part.replaceAll('+', '-').replaceAll('/', '_')])
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
