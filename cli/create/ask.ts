/** Asks the user. */
export interface Ask {
  one(question: string, answers: readonly string[]): Promise<string>
  yes(question: string, byDefault: boolean): Promise<boolean>
}

/**
 * Asks on a terminal. An answer is the number of a choice, its name or the start of its name. An empty answer
 * selects the first.
 */
export function askOnTerminal(line: (question: string) => Promise<string>, out: (text: string) => void): Ask {
  return {
    async one(question, answers) {
      out(`\n${question}\n${answers.map((answer, at) => `  ${at + 1}  ${answer}`).join('\n')}`)
      for (;;) {
        const given = (await line(`[${answers[0]}] `)).trim().toLowerCase()
        const found =
          given === ''
            ? answers[0]
            : (answers[Number(given) - 1] ?? answers.find((one) => one.startsWith(given)))
        if (found !== undefined) return found
        out(`Answer with a number from 1 to ${answers.length}, or a name.`)
      }
    },
    async yes(question, byDefault) {
      const given = (await line(`\n${question} [${byDefault ? 'Y/n' : 'y/N'}] `)).trim().toLowerCase()
      return given === '' ? byDefault : given.startsWith('y')
    },
  }
}
