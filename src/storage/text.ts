/**
 * What a database cannot store as text, or orders differently from JavaScript, and the character that marks
 * NUL.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFIT = /[\0\u0001\ud800-\uffff]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const MARKED = /\u0001[\u0001\u0002]|[\u{100000}-\u{1027ff}]/gu

const FIRST_UNFIT = 0xd800
const PLANE = 0x100000

/**
 * Encodes a string as UTF-8 text that keeps NUL and lone surrogates, and whose byte order is the order of its
 * UTF-16 code units: those from U+D800 up become characters of the last plane. The inverse is `fromText`.
 */
export function toText(value: string): string {
  return value.replace(UNFIT, (unit) => {
    const code = unit.charCodeAt(0)
    if (code === 0) return '\u0001\u0001'
    return code === 1 ? '\u0001\u0002' : String.fromCodePoint(PLANE + code - FIRST_UNFIT)
  })
}

export function fromText(text: string): string {
  return text.replace(MARKED, (mark) => {
    if (mark === '\u0001\u0001') return '\0'
    return mark === '\u0001\u0002'
      ? '\u0001'
      : String.fromCharCode(mark.codePointAt(0)! - PLANE + FIRST_UNFIT)
  })
}
