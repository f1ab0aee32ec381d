/** A longer text is no misspelled name, and its distance to each name would take time for each of its letters. */
const LONGEST = 64

/** The name that was probably meant: one with a common prefix, or a small edit distance. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  if (name.length > LONGEST) return undefined
  const given = name.toLowerCase()
  const ranked = names.map((known) => {
    const lower = known.toLowerCase()
    const isPart = given.length > 2 && (lower.startsWith(given) || given.startsWith(lower))
    const far = isPart ? 1 + Math.abs(given.length - lower.length) / 100 : distance(given, lower)
    return [known, far] as const
  })
  const near = ranked.filter(([, far]) => far < 2 || far <= given.length / 3)
  return near.sort(([, a], [, b]) => a - b)[0]?.[0]
}

/** The Levenshtein distance: the number of letters to add, remove or replace. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1]
    for (const [at, other] of [...to].entries())
      next.push(Math.min(next[at]! + 1, row[at + 1]! + 1, row[at]! + (letter === other ? 0 : 1)))
    row = next
  }
  return row[to.length]!
}
