import { Marked, type TokenizerThis, type Tokens } from 'marked'

/** A formula between `$$`, or between `\[` or `\(` and its end. Its source is LaTeX. */
export interface MathToken extends Tokens.Generic {
  readonly type: 'math'
  readonly text: string
}

/** Without an empty line, which ends a block. */
const BLOCK =
  /^ {0,3}(?:\$\$((?:(?!\n[ \t]*\n)[\s\S])+?)\$\$|\\\[((?:(?!\n[ \t]*\n)[\s\S])+?)\\\])[ \t]*(?:\n+|$)/
const INLINE = /^(?:\$\$([^\n]+?)\$\$|\\\[([^\n]+?)\\\]|\\\(([^\n]+?)\\\))/

/** Where the text before a formula may end. */
const startOf =
  (pattern: RegExp) =>
  (source: string): number | undefined => {
    const at = source.search(pattern)
    return at === -1 ? undefined : at
  }

function mathOf(pattern: RegExp) {
  return function (this: TokenizerThis, source: string): MathToken | undefined {
    const [raw, ...texts] = pattern.exec(source) ?? []
    const text = texts.find((one) => one !== undefined)?.trim()
    return raw === undefined || !text ? undefined : { type: 'math', raw, text }
  }
}

/**
 * Markdown with formulas. Without it, Markdown would take the backslashes and underscores of LaTeX as its own.
 * A single `$` is not a mark, because it is more often an amount of money.
 */
export const MATH = new Marked({
  extensions: [
    {
      name: 'mathBlock',
      level: 'block',
      start: startOf(/(?<=\n) {0,3}(?:\$\$|\\\[)/),
      tokenizer: mathOf(BLOCK),
    },
    { name: 'mathInline', level: 'inline', start: startOf(/\$\$|\\[[(]/), tokenizer: mathOf(INLINE) },
  ],
})
