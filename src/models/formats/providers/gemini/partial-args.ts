import { type Fields, fieldsOf, listOf, stringOf } from '../../fields.ts'

/** Writes streamed arguments, pieces such as `{ jsonPath: '$.a[0].b', stringValue: 'x' }`, as JSON text. */
export interface ArgsWriter {
  write(pieces: unknown): string
  /** The end of the text: it closes what is open. */
  end(): string
}

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\[(['"])(.*?)\3\]/g

/** Needs pieces in the order of the text: an object or list that a piece has left cannot be reopened. */
export function createArgsWriter(): ArgsWriter {
  /** The path of the last value. Numbers are indexes of a list. */
  let path: readonly (string | number)[] = []
  let inString = false

  function close(depth: number): string {
    let text = inString ? '"' : ''
    inString = false
    for (let at = path.length - 1; at >= depth; at--) text += typeof path[at] === 'number' ? ']' : '}'
    return text
  }

  function moveTo(next: readonly (string | number)[]): string {
    let shared = 0
    while (shared < next.length - 1 && next[shared] === path[shared]) shared++
    let text = close(shared + 1)
    next.slice(shared).forEach((step, at) => {
      const first = at > 0 || path.length === 0
      const start = typeof step === 'number' ? '[' : '{'
      text += (first ? start : ',') + (typeof step === 'number' ? '' : `${JSON.stringify(step)}:`)
    })
    path = next
    return text
  }

  function writePiece({ jsonPath, stringValue, numberValue, boolValue, willContinue }: Fields): string {
    const steps = [...stringOf(jsonPath).matchAll(STEP)].map(([, name, place, , quoted]) =>
      place ? Number(place) : (name ?? quoted ?? ''),
    )
    const more = inString && steps.join('\n') === path.join('\n')
    const text = more ? '' : moveTo(steps)
    if (typeof stringValue !== 'string') return text + JSON.stringify(numberValue ?? boolValue ?? null)
    inString = willContinue === true
    return `${text}${more ? '' : '"'}${JSON.stringify(stringValue).slice(1, -1)}${inString ? '' : '"'}`
  }

  return {
    write: (pieces) =>
      listOf(pieces)
        .map((piece) => writePiece(fieldsOf(piece)))
        .join(''),
    end: () => close(0),
  }
}
