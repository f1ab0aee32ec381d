/** The name that a misspelled one is closest to, or undefined if none is close. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(given.length / 3))
  const [best] = names
    .map((name) => ({ name, distance: distance(given, name) }))
    .filter((one) => one.distance <= limit)
    .sort((a, b) => a.distance - b.distance)
  return best?.name
}

/** How many letters to insert, remove or replace to turn one word into another. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries())
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (letter === other ? 0 : 1)))
    row = next
  }
  return row.at(-1)!
}
