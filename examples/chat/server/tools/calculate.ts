/**
 * The value of an arithmetic expression: `+ - * / ^ %` (remainder), unary minus, parentheses, decimals.
 * Throws `RangeError` with a readable sentence if the text is not an expression or the value is not finite.
 */
export function calculate(expression: string): number {
  const tokens = expression.match(/\d+(?:\.\d+)?|[^\s]/g) ?? []
  let at = 0

  const sum = (): number => {
    let value = product()
    while (tokens[at] === '+' || tokens[at] === '-') value += tokens[at++] === '+' ? product() : -product()
    return value
  }
  const product = (): number => {
    let value = negation()
    for (let sign = tokens[at]; sign === '*' || sign === '/' || sign === '%'; sign = tokens[at]) {
      at++
      const right = negation()
      value = sign === '*' ? value * right : sign === '/' ? value / right : value % right
    }
    return value
  }
  const negation = (): number => {
    if (tokens[at] !== '-') return power()
    at++
    return -negation()
  }
  const power = (): number => {
    const base = atom()
    if (tokens[at] !== '^') return base
    at++
    return base ** negation()
  }
  const atom = (): number => {
    const token = tokens[at++]
    if (token === '(') {
      const value = sum()
      if (tokens[at++] !== ')') throw new RangeError(`A parenthesis is not closed in “${expression}”.`)
      return value
    }
    if (token === undefined || !/^\d/.test(token)) throw new RangeError(`“${expression}” is not arithmetic.`)
    return Number(token)
  }

  const value = sum()
  if (at < tokens.length) throw new RangeError(`“${expression}” is not arithmetic.`)
  if (!Number.isFinite(value)) throw new RangeError(`“${expression}” has no finite value.`)
  return Number(value.toPrecision(12))
}

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/(?<=\d),(?=\d{3}\b)/g, ''],
  [/\bplus\b/gi, '+'],
  [/\bminus\b/gi, '-'],
  [/\b(?:times|multiplied by)\b|×|(?<=\d\s*)x(?=\s*\d)/gi, '*'],
  [/\b(?:divided by|over)\b|÷/gi, '/'],
  [/\bto the power of\b|\*\*/gi, '^'],
  [/\bsquared\b/gi, '^ 2'],
  [/(\d+(?:\.\d+)?)\s*(?:%|percent)\s*of\b/gi, '$1 / 100 *'],
]

/**
 * The longest arithmetic expression in a sentence (including “17 % of 240” and “12 times 7”), and the
 * sentence without it.
 */
export function findArithmetic(
  text: string,
): { readonly expression: string; readonly rest: string } | undefined {
  const written = WORDS.reduce((sentence, [words, sign]) => sentence.replace(words, sign), text)
  const pieces = [...written.matchAll(/[-(]*\d[\d.\s()+\-*/^%]*[+\-*/^%][\d.\s()+\-*/^%]*/g)].map(([piece]) =>
    piece.replace(/[\s.]+$/, ''),
  )
  const expression = pieces
    .filter((piece) => /\d[)\s]*[+\-*/^%][\s(-]*\d/.test(piece))
    .sort((a, b) => b.length - a.length)[0]
  return expression === undefined
    ? undefined
    : { expression: expression.trim(), rest: written.replace(expression, ' ') }
}
