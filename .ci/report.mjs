// Reads vitest's JSON reports. With a second report of the files that failed, a test counts as it ended there.
//   node .ci/report.mjs count report.json [again.json]   "<passed> <failed>"
//   node .ci/report.mjs files report.json                the files that failed, a line each
//   node .ci/report.mjs names report.json [again.json]   each failed test with the first lines of its error, and what failed only once
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const LINES_OF_AN_ERROR = 6
/** A file that could not be read has no tests: it counts as one. */
const WHOLE_FILE = 'the whole file'

const [what, first, again] = process.argv.slice(2)

const tests = (report) =>
  JSON.parse(readFileSync(report, 'utf8')).testResults.flatMap(
    ({ name, status, message, assertionResults }) => {
      // The tests of other peers run in a folder of their own.
      const file = /(?:^|\/)(test\/.*)$/.exec(relative(process.cwd(), name))?.[1] ?? name
      const own = assertionResults.map((test) => ({
        file,
        name: test.fullName,
        status: test.status,
        error: test.failureMessages?.[0] ?? '',
      }))
      const broken = status === 'failed' && !own.some((test) => test.status === 'failed')
      return broken ? [...own, { file, name: WHOLE_FILE, status, error: message ?? '' }] : own
    },
  )

const keyOf = ({ file, name }) => JSON.stringify([file, name])
const failedOf = (report) => tests(report).filter(({ status }) => status === 'failed')

const before = failedOf(first)
const second = again !== undefined && existsSync(again) ? tests(again) : undefined
const stillFailing = second ? second.filter(({ status }) => status === 'failed') : before
const lastly = new Map(second?.map((test) => [keyOf(test), test.status]))
// A file that can be read the second time shows its tests for the first time.
const steadied = before.filter((test) => test.name !== WHOLE_FILE && lastly.get(keyOf(test)) === 'passed')

if (what === 'count') {
  const found = before.filter(({ name }) => name === WHOLE_FILE).map(({ file }) => file)
  const late = second?.filter(({ file, status }) => found.includes(file) && status === 'passed') ?? []
  const passed = tests(first).filter(({ status }) => status === 'passed').length
  console.log(passed + steadied.length + late.length, stillFailing.length)
}
if (what === 'files') for (const file of new Set(before.map(({ file }) => file))) console.log(file)
if (what === 'names') {
  const print = (kind, { file, name, error }) =>
    console.log(
      `${kind}: ${file} > ${name}\n    ${error.split('\n').slice(0, LINES_OF_AN_ERROR).join('\n    ')}`,
    )
  for (const test of stillFailing) print('failed test', test)
  if (second)
    for (const test of before)
      if (!stillFailing.some((one) => keyOf(one) === keyOf(test))) print('unsteady test', test)
}
