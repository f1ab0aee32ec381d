/** The version of a release, without what follows a hyphen or a plus sign. */
const numbersOf = (version: string): readonly number[] =>
  version.replace(/^v/, '').split(/[-+]/, 1)[0]!.split('.').map(Number)

function compare(one: readonly number[], other: readonly number[]): number {
  const at = [0, 1, 2].find((index) => (one[index] ?? 0) !== (other[index] ?? 0))
  return at === undefined ? 0 : (one[at] ?? 0) - (other[at] ?? 0)
}

/** Whether a version is in a range of the two forms in the package's own `package.json`: `^1.2.0 || ^2.0.0` and `>=1.2`. */
export const isInRange = (version: string, range: string): boolean =>
  range.split('||').some((part) => {
    const [, operator, lowest] = /^(\^|>=)([\d.]+)$/.exec(part.trim())!
    const [found, from] = [numbersOf(version), numbersOf(lowest!)]
    if (compare(found, from) < 0) return false
    if (operator === '>=') return true
    // The first number that is not 0 stays the same.
    const fixed =
      Math.max(
        0,
        from.findIndex((number) => number !== 0),
      ) + 1
    return compare(found.slice(0, fixed), from.slice(0, fixed)) === 0
  })
