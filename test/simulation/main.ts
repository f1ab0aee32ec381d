/**
 * Simulates whole clusters by seed:
 *
 *   npm run simulate -- --seed 17             one course, with its trace
 *   npm run simulate -- --seeds 1..1000       many, and what was wrong in them
 *   npm run simulate -- --planted             plants faults one after the other, and prints which seed finds each
 *   npm run simulate -- --planted lease       those with the word in their name
 *
 * Each planted fault must be found within `--most N` seeds, 1,000 by default. `--workers N` sets the number of threads. Exits with 1 if a course breaks a promise, or if a planted fault is not found.
 */
import { parseArgs } from 'node:util'
import { compileProgram } from './compile.ts'
import { openFleet, seedsOf } from './fleet.ts'
import { PLANTED } from './planted.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1..300' },
    planted: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
    most: { type: 'string', default: '1000' },
  },
})

const fleet = await openFleet(Number(values.workers))
try {
  const isGood = values.planted
    ? await plant(positionals[0] ?? '')
    : values.seed !== undefined
      ? await replay(Number(values.seed))
      : await search(values.seeds)
  process.exitCode = isGood ? 0 : 1
} finally {
  await fleet.close()
}

async function replay(seed: number): Promise<boolean> {
  const { trace, ...result } = await fleet.trace(await compileProgram(), seed)
  for (const line of trace) console.log(line)
  console.log(result)
  return result.violation === undefined
}

async function search(range: string): Promise<boolean> {
  const [from, to] = range.split('..').map(Number) as [number, number]
  const since = performance.now()
  let [runs, calls, events, wrong, virtualMs] = [0, 0, 0, 0, 0]
  await fleet.run(await compileProgram(), seedsOf(from, to), (result) => {
    runs += result.runs
    calls += result.calls
    events += result.events
    virtualMs += result.virtualMs
    if (result.violation !== undefined) {
      wrong++
      console.log(`seed ${result.seed}: ${result.violation}`)
    }
    return true
  })
  const seconds = (ms: number): number => Math.round(ms / 100) / 10
  console.log(
    `${to - from + 1} courses of ${seconds(virtualMs)} s in ${seconds(performance.now() - since)} s: ${runs} runs, ${calls} calls of the database, ${events} events, ${wrong} broken promises`,
  )
  return wrong === 0
}

async function plant(word: string): Promise<boolean> {
  let isComplete = true
  console.log('| fault | found by seed | after seeds | as |\n|---|---|---|---|')
  for (const { name, patches } of PLANTED.filter((one) => one.name.includes(word))) {
    let count = 0
    let found: { readonly seed: number; readonly violation: string } | undefined
    await fleet.run(await compileProgram(patches), seedsOf(1, Number(values.most)), ({ seed, violation }) => {
      count++
      if (violation === undefined || (found && found.seed < seed)) return found === undefined
      found = { seed, violation }
      return false
    })
    if (!found) isComplete = false
    const what = found?.violation.slice(0, 100).replaceAll(/[|\n]/g, ' ')
    console.log(`| ${name} | ${found?.seed ?? 'none'} | ${found?.seed ?? count} | ${what ?? ''} |`)
  }
  return isComplete
}
