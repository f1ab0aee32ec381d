// Prints each failed test of vitest's JSON reports with its file and the first lines of its error: the log of a whole check is too long to be searched for them.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const LINES_OF_AN_ERROR = 6

const beginning = (message) => (message ?? '').split('\n').slice(0, LINES_OF_AN_ERROR).join('\n    ')

for (const report of process.argv.slice(2)) {
  for (const file of JSON.parse(readFileSync(report, 'utf8')).testResults) {
    const path = relative(process.cwd(), file.name)
    const tests = file.assertionResults.filter((test) => test.status === 'failed')
    for (const test of tests)
      console.log(`failed test: ${path} > ${test.fullName}\n    ${beginning(test.failureMessages[0])}`)
    if (file.status === 'failed' && tests.length === 0)
      console.log(`failed file: ${path}\n    ${beginning(file.message)}`)
  }
}
