import { DeployError } from '../deployer.ts'

export type Command = readonly [program: string, ...args: string[]]

/**
 * Splits a command from the API into arguments, without a shell. White space separates; `'…'` and `"…"` keep
 * white space; a `\` escapes the next character, except in `'…'`, and in `"…"` only before `"` and `\`.
 * Syntax that needs a shell is rejected with a `DeployError`, instead of being passed as an argument.
 */
export function splitCommand(text: string): Command {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!
    if (sign === "'" || sign === '"') {
      const quoted = readQuoted(text, at)
      word = (word ?? '') + quoted.text
      at = quoted.end
    } else if (sign === '\\' && at + 1 < text.length) word = (word ?? '') + text[++at]
    else if (sign === '\n' || /[&|;<>`$()\0]/.test(sign)) throw needsShell(text, sign)
    else if (/\s/.test(sign)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + sign
  }
  if (word !== undefined) words.push(word)
  const [program, ...args] = words
  if (program === undefined || program === '') throw new DeployError('The command is empty.')
  if (/^[A-Za-z_]\w*=/.test(program))
    throw new DeployError(
      `The command begins with ${JSON.stringify(program)}: it is not run by a shell. Set variables as secrets of the deployment.`,
    )
  return [program, ...args]
}

function readQuoted(text: string, from: number): { readonly text: string; readonly end: number } {
  const quote = text[from]!
  let read = ''
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === quote) return { text: read, end: at }
    const isEscape = quote === '"' && text[at] === '\\' && /["\\]/.test(text[at + 1] ?? '')
    if (isEscape) at++
    read += text[at]
  }
  throw new DeployError(`The command has an unclosed ${quote}.`)
}

const needsShell = (text: string, sign: string): DeployError =>
  new DeployError(
    `The command ${JSON.stringify(text)} is not run by a shell, so ${JSON.stringify(sign)} has no special meaning: quote it, or move the command into a package.json script.`,
  )
