import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import buildPackage from '../package/build.ts'
import { entries, root } from '../package/package.ts'
import { type Bench, least, runAlone, takeTurns, times } from './support/report.ts'

/** Measures the CPU time of a fresh process that imports the built package, and of one that imports nothing. */

const ROUNDS = 25
const TARGET_MS = 20

const PRINT = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)'

const cpuOf = (code: string) => async () =>
  Number(execFileSync(process.execPath, ['--input-type=module', '-e', `${code}; ${PRINT}`]))

export const importing: Bench = async () => {
  buildPackage()
  const { files } = entries.find(({ specifier }) => specifier === 'agentwire')!
  const { ours, bare } = await takeTurns(ROUNDS, {
    ours: cpuOf(`import ${JSON.stringify(join(root, files.esm.default))}`),
    bare: cpuOf(''),
  })
  const own = least(ours)
  const node = least(bare)
  return [
    {
      bench: 'a process that imports agentwire, vs bare Node',
      ours: `${own.toFixed(0)} ms`,
      peer: `${node.toFixed(0)} ms`,
      ratio: times(own / node),
      target: `<= +${TARGET_MS} ms`,
      met: own - node <= TARGET_MS,
    },
  ]
}

await runAlone(import.meta.url, importing)
