/** Asks the user. */
export interface Ask {
  text(question: string, byDefault: string): Promise<string>
  /** `answers` maps each answer to what it means. */
  one(question: string, answers: Readonly<Record<string, string>>): Promise<string>
  yes(question: string, byDefault: boolean): Promise<boolean>
}

/**
 * Asks on a terminal. An answer is the number of a choice, its name or the start of its name. An empty answer
 * selects the first.
 */
export function askOnTerminal(line: (question: string) => Promise<string>, out: (text: string) => void): Ask {
  return {
    async text(question, byDefault) {
      return (await line(`\n${question} [${byDefault}] `)).trim() || byDefault
    },
    async one(question, answers) {
      const names = Object.keys(answers)
      const width = Math.max(...names.map((name) => name.length))
      const rows = names.map((name, at) => `  ${at + 1}  ${name.padEnd(width)}  ${answers[name]}`)
      out(`\n${question}\n${rows.join('\n')}`)
      for (;;) {
        const given = (await line(`[${names[0]}] `)).trim().toLowerCase()
        const found =
          given === '' ? names[0] : (names[Number(given) - 1] ?? names.find((one) => one.startsWith(given)))
        if (found !== undefined) return found
        out(`Answer with a number from 1 to ${names.length}, or a name.`)
      }
    },
    async yes(question, byDefault) {
      for (;;) {
        const given = (await line(`\n${question} [${byDefault ? 'Y/n' : 'y/N'}] `)).trim().toLowerCase()
        if (given === '') return byDefault
        if (/^(?:yes|y|no|n)$/.test(given)) return given.startsWith('y')
        out('Answer with y or n.')
      }
    },
  }
}
