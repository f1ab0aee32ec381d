import { pathToFileURL } from 'node:url'

/** One line of the table. */
export interface Row {
  readonly bench: string
  readonly ours: string
  readonly peer: string
  readonly ratio: string
  readonly target: string
  /** Undefined where there is no target. */
  readonly met?: boolean
}

/** Runs one benchmark. */
export type Bench = () => Promise<readonly Row[]>

const COLUMNS = ['bench', 'ours', 'peer', 'ratio', 'target', 'met'] as const

export function printTable(rows: readonly Row[]): void {
  const cells = rows.map((row) => ({
    ...row,
    met: row.met === undefined ? '' : row.met ? 'yes' : 'MISSED',
  }))
  const widths = COLUMNS.map((name) => Math.max(name.length, ...cells.map((row) => row[name].length)))
  const line = (values: readonly string[]) =>
    `| ${values.map((value, i) => value.padEnd(widths[i]!)).join(' | ')} |`
  console.log(line(COLUMNS))
  console.log(line(widths.map((width) => '-'.repeat(width))))
  for (const row of cells) console.log(line(COLUMNS.map((name) => row[name])))
}

/** Runs a benchmark whose file was started by itself. A missed target is a result and not a failure, so the exit code stays 0. */
export async function runAlone(url: string, bench: Bench): Promise<void> {
  const started = process.argv[1]
  if (started !== undefined && pathToFileURL(started).href === url) printTable(await bench())
}

/** Runs the measurements in turns and gives the results of each. The first round only warms up. */
export async function takeTurns<const Names extends string>(
  rounds: number,
  measurements: Readonly<Record<Names, () => Promise<number>>>,
): Promise<Record<Names, number[]>> {
  const names = Object.keys(measurements) as Names[]
  const results = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Names, number[]>
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      results[name].push(await measurements[name]())
    }
  }
  return results
}

export const least = (values: readonly number[]): number => Math.min(...values)

export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))]!
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export const times = (ratio: number): string =>
  ratio < 0.5 ? `1/${(1 / ratio).toFixed(1)}` : `${ratio.toFixed(2)}x`
