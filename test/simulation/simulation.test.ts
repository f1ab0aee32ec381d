import { readFile } from 'node:fs/promises'
import { afterAll, expect, test } from 'vitest'
import { compileProgram } from './compile.ts'
import { openFleet, seedsOf } from './fleet.ts'
import { PLANTED } from './planted.ts'

/** How many courses are run. The nightly run takes more. */
const SEEDS = Number(process.env.SIMULATION_SEEDS ?? 300)

const fleet = await openFleet(2)
afterAll(fleet.close)
const script = await compileProgram()

test(
  `${SEEDS} clusters keep every promise while processes, clocks, notifications and their database fail`,
  async () => {
    const broken: string[] = []
    await fleet.run(script, seedsOf(1, SEEDS), ({ seed, violation }) => {
      if (violation !== undefined) broken.push(`npm run simulate -- --seed ${seed}: ${violation}`)
      return broken.length < 10
    })
    expect(broken).toEqual([])
  },
  Math.max(240_000, SEEDS * 2_000),
)

test.each(PLANTED)(
  'the source has each text that is replaced to plant a fault: $name',
  async ({ patches }) => {
    for (const { file, text } of patches) {
      const source = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8')
      expect(source.split(text)).toHaveLength(2)
    }
  },
)

test('a seed always takes the same course, in a new process and after other courses', async () => {
  const fresh = await openFleet(1)
  try {
    for (const seed of [2, 3, 4, 5].map((more) => SEEDS + more)) {
      const [one, another] = await Promise.all([fleet.trace(script, seed), fresh.trace(script, seed)])
      expect(one.trace.length).toBeGreaterThan(100)
      expect(another.trace.join('\n')).toBe(one.trace.join('\n'))
      expect(another).toEqual(one)
    }
  } finally {
    await fresh.close()
  }
})
