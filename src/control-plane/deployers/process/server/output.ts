import type { DeploymentContext } from '../../deployer.ts'

/** What a server writes to stdout and stderr. */
export interface Output {
  add(line: string, stream: 'stdout' | 'stderr'): void
  /** Its last lines, for the error that ends it. Empty where it wrote nothing. */
  tail(): string
}

/** What a server writes beyond this in a second is left out of its log. */
const LINES_PER_SECOND = 1_000
const CHARACTERS_PER_SECOND = 1 << 20

const TAIL_LINES = 20
const TAIL_CHARACTERS = 500

/** Passes the lines of a server on to its log, so many at most that neither the memory nor the store is filled. */
export function createOutput(log: DeploymentContext['log']): Output {
  const tail: string[] = []
  let lines = 0
  let characters = 0
  let dropped = 0
  let _second: NodeJS.Timeout | undefined

  function endSecond(): void {
    if (dropped > 0) log(`${dropped} lines were left out here: the server writes too many.`, 'WARNING')
    lines = characters = dropped = 0
    _second = undefined
  }

  return {
    add(line, stream) {
      _second ??= setTimeout(endSecond, 1_000).unref()
      tail.push(line.slice(0, TAIL_CHARACTERS))
      if (tail.length > TAIL_LINES) tail.shift()
      if (lines >= LINES_PER_SECOND || characters >= CHARACTERS_PER_SECOND) dropped++
      else log(line, stream === 'stdout' ? 'INFO' : 'ERROR')
      lines++
      characters += line.length
    },
    tail: () => tail.join('\n'),
  }
}
